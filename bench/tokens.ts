/** M5: size of the tool list in tokens (o200k_base) of name, description and input schema. */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { embeddedTools } from "../src/cli/embedded-tools.ts";
import {
  createToolFilter,
  createToolList,
  defaultToolFilterSettings,
  tools,
} from "../src/mcp/tool-list/index.ts";
import type { ToolMode } from "../tools/contract/index.ts";
import { median } from "./support/median.ts";

/** Medians of other servers, in tokens per tool. */
const peers = { GitHub: 230, Twilio: 368, Notion: 715 };
const targets = "at most 11,000 in all, median at most 130, none over 500; search mode at most 1,000";

/** The tokens of each tool in a list, largest first. */
function measure(mode: ToolMode, availableTools?: readonly string[]) {
  const list = createToolList(tools, { availableTools: availableTools && new Set(availableTools) });
  const filter = createToolFilter(tools, { ...defaultToolFilterSettings, mode });
  return list
    .list({ scopes: undefined, filter })
    .map(({ name, description, inputSchema }) => ({
      name,
      tokens: countTokens(JSON.stringify({ name, description, inputSchema })),
    }))
    .sort((a, b) => b.tokens - a.tokens);
}

const catalogue = measure("all");
const offered = new Set(embeddedTools);
for (const { name, tokens } of catalogue) {
  const note = offered.has(name) ? "" : "  (not offered by the embedded service)";
  console.log(`${String(tokens).padStart(5)}  ${name}${note}`);
}
report("embedded service, default list", measure("core", embeddedTools));
report("embedded service, all tools", measure("all", embeddedTools));
report("embedded service, search mode", measure("search", embeddedTools));
report("whole catalogue, default list", measure("core"));
report("whole catalogue, all tools", catalogue);
const others = Object.entries(peers).map(([name, tokens]) => `${name} ${tokens}`);
console.log(`peers, median a tool: ${others.join(", ")}`);
console.log(`targets: ${targets}`);

function report(what: string, list: readonly { readonly tokens: number }[]): void {
  const values = list.map(({ tokens }) => tokens);
  const total = values.reduce((sum, value) => sum + value, 0);
  const most = Math.max(...values);
  console.log(`${what}: ${values.length} tools, ${total} in all, median ${median(values)}, most ${most}`);
}
