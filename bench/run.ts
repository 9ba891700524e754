/** Runs one of the figures: `npm run bench -- NAME`; without a name it lists them. */
import { readdir, readFile } from "node:fs/promises";

const names = (await readdir(import.meta.dirname))
  .filter((file) => file.endsWith(".ts") && file !== "run.ts")
  .map((file) => file.slice(0, -".ts".length))
  .sort();

const [, , name, ...rest] = process.argv;

if (name === undefined) {
  await list();
} else if (names.includes(name)) {
  // The figure reads its own arguments where a script of its own would find them.
  process.argv.splice(2, process.argv.length, ...rest);
  await import(`./${name}.ts`);
} else {
  console.error(`There is no figure ${name}. There are: ${names.join(", ") || "none yet"}.`);
  process.exitCode = 1;
}

async function list(): Promise<void> {
  for (const one of names) {
    console.log(`${one.padEnd(24)}${await summary(one)}`);
  }
}

/** The sentence that the file opens with. */
async function summary(one: string): Promise<string> {
  const source = await readFile(new URL(`./${one}.ts`, import.meta.url), "utf8");
  return /^\/\*\*\s*(?:\*\s*)?(.+?)\s*(?:\*\/)?$/m.exec(source)?.[1] ?? "";
}
