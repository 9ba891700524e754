/** Writes the README's tables between their markers, from the catalogue and the settings; `--check` only compares. */
import { readFile, writeFile } from "node:fs/promises";
import { settings } from "../src/config/index.ts";
import { operationsOf } from "../src/platform/index.ts";
import { describeRule, formsOf, type Operation } from "../tools/contract/index.ts";

/** What stands in each block, and where it comes from. */
const blocks = {
  operations: {
    source: "tools/",
    table: table(
      ["Method", "Path", "Tools", "Scope", "What it does"],
      Object.entries(operationsOf()).map(([name, operation]) => operationRow(name, operation)),
    ),
  },
  settings: {
    source: "src/config/index.ts",
    table: table(
      ["Setting", "Default", "What it is"],
      settings.map((one) => [code(one.name), code(one.default), one.description]),
    ),
  },
};

const readme = await readFile("README.md", "utf8");
const fresh = Object.entries(blocks).reduce((text, [name, block]) => fill(text, name, block), readme);

if (fresh === readme) {
  console.log("README.md is up to date.");
} else if (process.argv.includes("--check")) {
  console.error("README.md differs from the catalogue or the settings. Run: npm run docs");
  process.exitCode = 1;
} else {
  await writeFile("README.md", fresh);
  console.log("README.md is written.");
}

function fill(text: string, name: string, block: { source: string; table: string }): string {
  const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const from = text.indexOf(start);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) {
    throw new Error(`README.md has no ${start.trim()} … ${end}`);
  }
  const notice = `<!-- Generated from ${block.source} by "npm run docs"; changes here are lost. -->`;
  return `${text.slice(0, from + start.length)}${notice}\n\n${block.table}\n\n${text.slice(to)}`;
}

function operationRow(name: string, operation: Operation): string[] {
  const paths = [operation, ...operation.also].map(({ path }) => code(path));
  const tools = Object.keys(formsOf(name, operation)).map(code);
  return [
    operation.method,
    paths.join("<br>"),
    tools.join("<br>"),
    operation.scope === null ? "" : code(describeRule(operation.scope)),
    firstSentence(operation.description),
  ];
}

function firstSentence(text: string): string {
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
}

function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");
}
