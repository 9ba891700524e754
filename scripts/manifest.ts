/** The manifest of the MCP bundle: what a client shows of Tidings, what it asks the user, and what it starts. */

import about from "../package.json" with { type: "json" };
import { builtTools } from "../src/cli/built-tools.ts";
import { version } from "../src/cli/version.ts";
import { tools } from "../src/mcp/tools.ts";

export const manifest = {
  manifest_version: "0.3",
  name: about.name,
  display_name: "Tidings",
  version,
  description: about.description,
  long_description:
    "Works a Tidings service from here: its contacts, conversations and messages. The service runs elsewhere; this bundle holds only what forwards to it. The tools that are listed are those that the API key may use.",
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
      description: "A key of that service, sk_live_…; its scopes decide which tools there are",
      sensitive: true,
      required: true,
    },
  },
  // Those of this version's own service; another service's, and the key's scopes, decide when it runs.
  tools: tools
    .filter(({ name }) => builtTools.includes(name))
    .map(({ name, wire }) => ({ name, description: wire.title })),
  tools_generated: true,
  compatibility: { runtimes: { node: about.engines.node } },
};
