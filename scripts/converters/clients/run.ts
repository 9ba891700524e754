/**
 * Runs every client over every tool; started by `scripts/converters/index.ts`, with a plan and a
 * file for the results.
 */
import { readFile, writeFile } from "node:fs/promises";
import { openAiSdk } from "./ai-sdk.ts";
import { findProblem } from "./check.ts";
import type { ClientUnderTest, ConversionResult, OpenClient, Plan, PlannedTool, Results } from "./client.ts";
import { openGoogle } from "./google.ts";
import { openLangchain } from "./langchain.ts";
import { openMastra } from "./mastra.ts";
import { openOpenAi } from "./openai.ts";

const clients: Readonly<Record<string, OpenClient>> = {
  "@openai/agents": openOpenAi,
  "@google/genai": openGoogle,
  "@langchain/mcp-adapters": openLangchain,
  "@mastra/schema-compat": openMastra,
  "@ai-sdk/mcp": openAiSdk,
};

const [input = "", output = ""] = process.argv.slice(2);
const plan: Plan = JSON.parse(await readFile(input, "utf8"));
const results: Record<string, Results[string]> = {};
for (const [name, open] of Object.entries(clients)) {
  results[name] = await runClient(open);
}
await writeFile(output, JSON.stringify(results));
process.exit(0);

/** The gateways are listed where the mode leaves tools out, so each mode has a server of its own. */
async function runClient(open: OpenClient): Promise<Results[string]> {
  const found: Record<string, ConversionResult> = {};
  for (const mode of ["search", "all"]) {
    const env = { ...plan.server.env, TIDINGS_TOOL_MODE: mode };
    const client = await open({ ...plan.server, env });
    for (const tool of plan.tools.filter(({ name }) => isGateway(name) === (mode === "search"))) {
      found[tool.name] = await runTool(client, tool);
    }
    await client.close();
  }
  return found;
}

function isGateway(name: string): boolean {
  return ["search_tools", "run_read_tool", "run_write_tool"].includes(name);
}

async function runTool(client: ClientUnderTest, tool: PlannedTool): Promise<ConversionResult> {
  try {
    const conversions = client.convert(tool);
    const problems = conversions.flatMap(({ schema }) => findProblem(tool.inputSchema, schema) ?? []);
    const problem = problems[0] ?? (await client.call(tool));
    const notes = conversions.flatMap(({ note }) => note ?? []);
    return problem === undefined ? (notes[0] === undefined ? {} : { note: notes[0] }) : { problem };
  } catch (error) {
    return { problem: String(error).slice(0, 500) };
  }
}
