/**
 * Runs the tools through the clients that convert their schemas for models, each as published, and prints
 * which passes: the converted schema must keep every argument, and a call with the smallest valid
 * arguments must succeed.
 *
 * The packages are installed in a folder of their own, and some need Node 22, so they run with a Node from
 * the registry. They call the built MCP server over stdio, which forwards to a service that answers each
 * operation with a sample.
 */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Plan, Results } from "./clients/client.ts";
import { planCalls } from "./plan.ts";
import { startSampleService } from "./sample-service.ts";
import { printTable } from "./table.ts";

const packages = [
  "@openai/agents@0.20.0",
  "@google/genai@3.3.0",
  "@langchain/mcp-adapters@1.1.4",
  "@mastra/schema-compat@1.3.11",
  "@ai-sdk/mcp@2.0.99",
  // What the others require of their users.
  "@langchain/core@1.4.0",
  "@langchain/langgraph@1.7.3",
  "@modelcontextprotocol/sdk@1.32.2",
  "zod@4.6.7",
];

const run = promisify(execFile);
const outputLimit = 64 * 1024 * 1024;

const folder = await mkdtemp(join(tmpdir(), "tidings-converters-"));
try {
  await installPackages();
  await using service = await startSampleService();
  const results = await runClients({
    tools: planCalls(),
    server: {
      command: process.execPath,
      args: [resolve("dist/tidings.js"), "mcp"],
      env: { TIDINGS_BASE_URL: service.url, TIDINGS_API_KEY: `sk_live_${"k".repeat(43)}` },
    },
  });
  const failed = printTable(results);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function installPackages(): Promise<void> {
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const options = [
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--engine-strict=false",
    "--loglevel=error",
  ];
  await run("npm", ["install", ...options, ...packages], { cwd: folder });
}

/** The clients' own code is copied into the folder, where it finds the packages. */
async function runClients(plan: Plan): Promise<Results> {
  await cp("scripts/converters/clients", join(folder, "clients"), { recursive: true });
  const [input, output] = [join(folder, "plan.json"), join(folder, "results.json")];
  await writeFile(input, JSON.stringify(plan));
  const command = ["-y", "-p", "node@24", "node", "--no-warnings", "clients/run.ts", input, output];
  await run("npx", command, { cwd: folder, maxBuffer: outputLimit, timeout: 300_000 });
  return JSON.parse(await readFile(output, "utf8"));
}
