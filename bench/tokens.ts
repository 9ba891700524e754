/** M5: size of the tool list in tokens (o200k_base) of name, description and input schema. */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { embeddedTools } from "../src/cli/embedded-tools.ts";
import { tools } from "../src/mcp/tool-list/definitions.ts";
import { median } from "./support/median.ts";

/** Medians of other servers, in tokens a tool. */
const peers = { GitHub: 230, Twilio: 368, Notion: 715 };
const targetMedian = 130;
const targetMost = 500;

const offered = new Set(embeddedTools);
const counted = tools
  .map(({ name, isCore, definition: { description, inputSchema } }) => ({
    name,
    tokens: countTokens(JSON.stringify({ name, description, inputSchema })),
    isOffered: offered.has(name),
    isCore,
  }))
  .sort((a, b) => b.tokens - a.tokens);

for (const { name, tokens, isOffered } of counted) {
  console.log(
    `${String(tokens).padStart(5)}  ${name}${isOffered ? "" : "  (not offered by the embedded service)"}`,
  );
}
report("whole catalogue", counted);
report(
  "core: listed by default",
  counted.filter(({ isCore }) => isCore),
);
report(
  "embedded service",
  counted.filter(({ isOffered }) => isOffered),
);
const peerMedians = Object.entries(peers).map(([name, tokens]) => `${name} ${tokens}`);
console.log(`peers, median a tool: ${peerMedians.join(", ")}`);
console.log(`targets: median ${targetMedian}, none over ${targetMost}, core at most 8,000`);

function report(what: string, list: readonly { readonly tokens: number }[]): void {
  const values = list.map(({ tokens }) => tokens);
  const total = values.reduce((sum, value) => sum + value, 0);
  const most = Math.max(...values);
  console.log(`${what}: ${values.length} tools, ${total} in all, median ${median(values)}, most ${most}`);
}
