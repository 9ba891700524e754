/**
 * Tests the OpenAPI document of the built service: lints it, generates clients from it, compiles them in
 * strict mode and runs the programs in examples/ against the service, the Python one as well.
 *
 * The linter and each example are installed in folders of their own. The linter runs with a Node from the
 * registry, because its later versions need Node 22.
 */
import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { type BuiltService, startBuiltService } from "./service.ts";

/** The programs in examples/ whose clients are generated. */
const generated = ["openapi-fetch", "oazapfts"];

const run = promisify(execFile);
const outputLimit = 64 * 1024 * 1024;
const folder = await mkdtemp(join(tmpdir(), "tidings-openapi-"));
try {
  await using service = await startBuiltService();
  const document = await fetch(`${service.url}/v1/openapi.json`);
  await writeFile(join(folder, "openapi.json"), await document.text());
  await lint();
  for (const name of generated) {
    await compileExample(name);
    await runExample(service, name, process.execPath, join(name, "main.js"));
  }
  await runExample(service, "python", "python3", resolve("examples/python/main.py"));
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function install(cwd: string, ...packages: readonly string[]): Promise<void> {
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--engine-strict=false"];
  await execute("npm", ["install", ...options, "--loglevel=error", ...packages], { cwd });
}

/** Applies the linter's recommended rules; a warning fails as an error does. */
async function lint(): Promise<void> {
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await install(folder, "@redocly/cli@2.77.0");
  const command = ["-y", "-p", "node@24", "node", "node_modules/@redocly/cli/bin/cli.js", "lint"];
  const output = await execute("npx", [...command, "--format=json", "openapi.json"]);
  const { totals } = JSON.parse(output.slice(output.indexOf("{"))) as LintReport; // by the linter's documentation
  console.log(`redocly: ${totals.errors} errors, ${totals.warnings} warnings`);
  if (totals.errors + totals.warnings > 0) {
    console.log(output);
    process.exitCode = 1;
  }
}

interface LintReport {
  readonly totals: { readonly errors: number; readonly warnings: number };
}

/** Generates the client with the versions of the example's package.json, and compiles it in strict mode. */
async function compileExample(name: string): Promise<void> {
  const cwd = join(folder, name);
  await cp(join("examples", name), cwd, { recursive: true });
  await cp(join(folder, "openapi.json"), join(cwd, "openapi.json"));
  await install(cwd);
  await execute("npm", ["run", "generate"], { cwd });
  await execute("npx", ["tsc"], { cwd });
}

async function runExample(
  { url, key }: BuiltService,
  name: string,
  program: string,
  ...args: string[]
): Promise<void> {
  const env = { ...process.env, TIDINGS_BASE_URL: url, TIDINGS_API_KEY: key };
  console.log(`\n== ${name}\n${await execute(program, args, { env })}`);
}

/** Runs a program in the folder and returns its output. @throws Error with the output if it fails. */
async function execute(
  program: string,
  args: readonly string[],
  { cwd = folder, env = process.env } = {},
): Promise<string> {
  const options = { cwd, env, maxBuffer: outputLimit, timeout: 120_000 };
  try {
    return (await run(program, args, options)).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = Object(error);
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}
