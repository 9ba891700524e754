/**
 * Tests the OpenAPI document of the built service: lints it, generates clients from it, compiles them in
 * strict mode and runs the programs in examples/ against the service, the Python one as well.
 *
 * The tools are installed in a folder of their own. The linter runs with a Node from the registry, because
 * its later versions need Node 22.
 */
import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { type BuiltService, startBuiltService } from "./service.ts";

const packages = [
  "@redocly/cli@2.77.0",
  "openapi-typescript@7.13.0",
  "openapi-fetch@0.17.0",
  "oazapfts@7.5.0",
  "@oazapfts/runtime@1.2.0",
  // What openapi-typescript requires of its users.
  "typescript@5.9.3",
  "@types/node@20.19.43",
];

const run = promisify(execFile);
const outputLimit = 64 * 1024 * 1024;
const folder = await mkdtemp(join(tmpdir(), "tidings-openapi-"));
try {
  await using service = await startBuiltService();
  await installPackages();
  const document = await fetch(`${service.url}/v1/openapi.json`);
  await writeFile(join(folder, "openapi.json"), await document.text());
  await lint();
  await generateClients();
  await runExample(service, "openapi-fetch", process.execPath, "openapi-fetch/main.js");
  await runExample(service, "oazapfts", process.execPath, "oazapfts/main.js");
  await runExample(service, "python", "python3", resolve("examples/python/main.py"));
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function installPackages(): Promise<void> {
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--engine-strict=false"];
  await execute("npm", ["install", ...options, "--loglevel=error", ...packages]);
}

/** Applies the linter's recommended rules; a warning fails as an error does. */
async function lint(): Promise<void> {
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

async function generateClients(): Promise<void> {
  for (const name of ["openapi-fetch", "oazapfts"]) {
    await cp(join("examples", name), join(folder, name), { recursive: true });
  }
  await execute("npx", [
    "openapi-typescript",
    "openapi.json",
    "--default-non-nullable=false",
    "-o",
    "openapi-fetch/schema.d.ts",
  ]);
  await execute("npx", ["oazapfts", "openapi.json", "oazapfts/api.ts"]);
  const compilerOptions = {
    target: "es2023",
    module: "nodenext",
    strict: true,
    noUncheckedIndexedAccess: true,
    rewriteRelativeImportExtensions: true,
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  await execute("npx", ["tsc", "--project", "."]);
  console.log("tsc: the generated clients compile in strict mode");
}

async function runExample(
  { url, key }: BuiltService,
  name: string,
  program: string,
  ...args: string[]
): Promise<void> {
  const env = { ...process.env, TIDINGS_BASE_URL: url, TIDINGS_API_KEY: key };
  console.log(`\n== ${name}\n${await execute(program, args, env)}`);
}

/** Runs a program in the folder and returns its output. @throws Error with the output if it fails. */
async function execute(program: string, args: readonly string[], env = process.env): Promise<string> {
  const options = { cwd: folder, env, maxBuffer: outputLimit, timeout: 120_000 };
  try {
    return (await run(program, args, options)).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = Object(error);
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}
