/** `tidings install-links`: links by which clients of this machine install the MCP server. */
import { type Config, readConfig } from "../../config/index.ts";
import { toAddress } from "../address.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { describeValues, print } from "../commands/print.ts";
import { createServerEntry, keyPlaceholder, type McpServerEntry } from "./server-entry.ts";

const name = "tidings";

export function runInstallLinks(options: CommandOptions): void {
  const { config } = readConfig(undefined, settingsOf(options));
  const entry = entryOf(config);
  const { vscode, cursor, lm_studio } = createInstallLinks(entry);
  print(options.json, { vscode, cursor, lm_studio }, () => [
    "Open a link on this machine, for example by pasting it into the address bar of a browser:",
    "",
    ...describeValues({ "VS Code": vscode, Cursor: cursor, "LM Studio": lm_studio }),
    ...(Object.values(entry.env).includes(keyPlaceholder)
      ? ["", `Then replace ${keyPlaceholder} in the client's configuration.`]
      : []),
  ]);
}

/** The form of each is in the client's documentation. */
function createInstallLinks(entry: McpServerEntry) {
  // Cursor warns above 80 tools of all servers together.
  const lean = { ...entry, env: { ...entry.env, TIDINGS_TOOL_MODE: "lean" } };
  const vscode = encodeURIComponent(JSON.stringify({ name, type: "stdio", ...entry }));
  return {
    vscode: `vscode:mcp/install?${vscode}`,
    cursor: `cursor://anysphere.cursor-deeplink/mcp/install?name=${name}&config=${encode(lean)}`,
    lm_studio: `lmstudio://add_mcp?name=${name}&config=${encode(entry)}`,
  };
}

/** In ASCII, because `atob` of a client would not read the bytes as UTF-8. */
function encode(entry: McpServerEntry): string {
  const json = JSON.stringify(entry).replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return encodeURIComponent(btoa(json));
}

/** @throws Error if the address of the service is another one at each start. */
function entryOf({ upstream, databaseUrl, dataDir, host, port }: Config): McpServerEntry {
  if (upstream) {
    return createServerEntry({ address: upstream.baseUrl });
  }
  if (databaseUrl === undefined) {
    return createServerEntry({ dataDir });
  }
  if (port === 0) {
    throw new Error(
      "With PORT=0 the service has another port at each start, so that no link reaches it. Set PORT to the port on which you start it.",
    );
  }
  return createServerEntry({ address: toAddress(host, port) });
}
