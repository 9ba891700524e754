/** Runs a benchmark: `npm run bench -- NAME`. Without a name, lists the benchmarks. */
import { readdir, readFile } from "node:fs/promises";

const names = (await readdir(import.meta.dirname))
  .filter((file) => file.endsWith(".ts") && file !== "run.ts")
  .map((file) => file.slice(0, -".ts".length))
  .sort();

const [, , name, ...rest] = process.argv;

if (name === undefined) {
  await list();
} else if (names.includes(name)) {
  // The benchmark reads its arguments from process.argv, as if it were started directly.
  process.argv.splice(2, process.argv.length, ...rest);
  await import(`./${name}.ts`);
} else {
  console.error(`There is no benchmark ${name}. Available: ${names.join(", ")}.`);
  process.exitCode = 1;
}

async function list(): Promise<void> {
  for (const file of names) {
    console.log(`${file.padEnd(24)}${await readSummary(file)}`);
  }
}

/** The first sentence of the file's head comment. */
async function readSummary(file: string): Promise<string> {
  const source = await readFile(new URL(`./${file}.ts`, import.meta.url), "utf8");
  return /^\/\*\*\s*(?:\*\s*)?(.+?)\s*(?:\*\/)?$/m.exec(source)?.[1] ?? "";
}
