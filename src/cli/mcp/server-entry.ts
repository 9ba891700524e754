/** The entry of this MCP server in a client's configuration, with absolute paths. */
import { resolve } from "node:path";

export interface McpServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What the client fills in. */
export const keyPlaceholder = "<API key>";

/** For the data folder of this machine or, with an address, for the service there. */
export function createServerEntry(location: { dataDir: string } | { address: string }): McpServerEntry {
  const env: Readonly<Record<string, string>> =
    "dataDir" in location
      ? { TIDINGS_DATA_DIR: resolve(location.dataDir) }
      : { TIDINGS_BASE_URL: location.address, TIDINGS_API_KEY: keyPlaceholder };
  return { ...createServerCommand(), env };
}

/** Starts the MCP server of this installation. */
export function createServerCommand(): Pick<McpServerEntry, "command" | "args"> {
  const [, script = ""] = process.argv;
  return { command: process.execPath, args: [script, "mcp"] };
}
