/** The manifest of the MCP bundle: its description, the settings that the user enters, and the command. */

import about from "../../package.json" with { type: "json" };
import { embeddedTools } from "../../src/cli/embedded-tools.ts";
import { version } from "../../src/cli/version.ts";
import { tools } from "../../src/mcp/tool-list/index.ts";

export const manifest = {
  manifest_version: "0.3",
  name: about.name,
  display_name: "Tidings",
  version,
  description: about.description,
  long_description:
    "Operates a Tidings service: its contacts, conversations and messages. The service runs elsewhere; this bundle only forwards to it. It lists the tools that the API key may use.",
  author: { name: "Tidings" },
  license: about.license,
  server: {
    type: "node",
    entry_point: "dist/tidings.js",
    mcp_config: {
      command: "node",
      // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the client fills these in.
      args: ["${__dirname}/dist/tidings.js", "mcp"],
      env: {
        TIDINGS_BASE_URL: "${user_config.base_url}",
        TIDINGS_API_KEY: "${user_config.api_key}",
      },
      // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the client fills these in.
    },
  },
  user_config: {
    base_url: {
      type: "string",
      title: "Address",
      description: "Address of the Tidings service, for example https://tidings.example.com",
      required: true,
    },
    api_key: {
      type: "string",
      title: "API key",
      description: "A key of that service, sk_live_…; its scopes determine the tools",
      sensitive: true,
      required: true,
    },
  },
  // The tools of this version. At run time the service and the scopes of the key determine the tools.
  tools: tools
    .filter(({ name }) => embeddedTools.includes(name))
    .map(({ name, definition }) => ({ name, description: definition.title })),
  tools_generated: true,
  compatibility: { runtimes: { node: about.engines.node } },
};
