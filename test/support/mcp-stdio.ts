/** A program that serves MCP on stdio in front of TIDINGS_URL, as small as one can be. */
import { createClient } from "../../src/client/index.ts";
import { createNarrowing, noNarrowing } from "../../src/mcp/narrow.ts";
import { learnAccess } from "../../src/mcp/scopes.ts";
import { serveOverStdio } from "../../src/mcp/stdio.ts";
import { tools } from "../../src/mcp/tools.ts";

const { TIDINGS_URL = "", TIDINGS_KEY = "", NARROWING = "{}", NOISE } = process.env;
const print = (facts: object, message: string) => console.error(message, facts);
const log = { debug: () => undefined, info: print, warn: print, error: print };
const client = createClient({ baseUrl: TIDINGS_URL, key: TIDINGS_KEY, backoffMs: 1 });
const { ended } = serveOverStdio({
  client,
  version: "0.0.0",
  log,
  learnAccess: () => learnAccess(client, log),
  narrowing: createNarrowing(tools, { ...noNarrowing, ...JSON.parse(NARROWING) }),
});
if (NOISE) {
  console.log(NOISE);
  console.info(NOISE);
}
await ended;
process.exit(0);
