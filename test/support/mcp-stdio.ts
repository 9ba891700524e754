/** The smallest program that serves MCP on stdio in front of TIDINGS_URL. */
import { createClient } from "../../src/client/index.ts";
import { serveOverStdio } from "../../src/mcp/stdio.ts";
import { discoverAccess } from "../../src/mcp/tool-list/access.ts";
import { tools } from "../../src/mcp/tool-list/definitions.ts";
import { createToolFilter, defaultToolFilterSettings } from "../../src/mcp/tool-list/filter.ts";

const { TIDINGS_URL = "", TIDINGS_KEY = "", NARROWING = "{}", NOISE } = process.env;
const print = (facts: object, message: string) => console.error(message, facts);
const log = { debug: () => undefined, info: print, warn: print, error: print };
const client = createClient({ baseUrl: TIDINGS_URL, key: TIDINGS_KEY, backoffMs: 1 });
const { ended } = serveOverStdio({
  client,
  version: "0.0.0",
  log,
  discoverAccess: () => discoverAccess(client, log),
  // A busy machine needs more time than a person waits for a list.
  listWaitMs: 30_000,
  toolFilter: createToolFilter(tools, { ...defaultToolFilterSettings, ...JSON.parse(NARROWING) }),
});
if (NOISE) {
  console.log(NOISE);
  console.info(NOISE);
}
await ended;
process.exit(0);
