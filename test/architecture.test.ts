/** The architecture: what a module is, who writes which table, and rules for every file. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { modules, operatorModules } from "../src/platform/index.ts";

/** The platform's modules in order: each may import only those before it. */
const moduleOrder = [
  ...[
    "kernel",
    "settings",
    "problems",
    "query",
    "identity",
    "phone",
    "organization",
    "prices",
    "wallet",
    "billing",
    "payments",
    "pricing",
  ],
  ...[
    "contacts",
    "users",
    "inboxes",
    "quick-replies",
    "uploads",
    "media",
    "templates",
    "api-keys",
    "auth",
    "mcp",
    "webhooks",
  ],
  ...[
    "teams",
    "routing",
    "conversations",
    "messages",
    "imports",
    "cohorts",
    "broadcasts",
    "knowledge-base",
    "chatbot",
    "ledger",
    "flows",
    "bootstrap",
    "operator",
    "clock",
    "index",
  ],
];

describe("modules", async () => {
  const sources = await readSources("src", "tools");

  test("of the platform import only modules below them", () => {
    const upward = importsBetween(sources, "src/platform").filter(
      ({ from, to }) => moduleOrder.indexOf(to) >= moduleOrder.indexOf(from) || !moduleOrder.includes(from),
    );
    expect(upward).toEqual([]);
  });

  test("that are folders are imported through index.ts alone", () => {
    const paths = new Set(sources.map(({ path }) => path));
    const bypasses = sources.flatMap(({ path, imports }) =>
      imports
        .filter((target) => {
          const folder = dirname(target);
          const isModule = !layersOfModules.includes(folder) && paths.has(join(folder, "index.ts"));
          return isModule && !path.startsWith(`${folder}/`) && basename(target) !== "index.ts";
        })
        .map((target) => `${path} imports ${target}`),
    );
    expect(bypasses).toEqual([]);
  });

  test("of the emulators are loaded by their command alone, and that by import()", () => {
    const loaders = sources.filter(
      ({ path, imports }) =>
        !path.startsWith("src/emulators/") && imports.some((target) => target.startsWith("src/emulators/")),
    );
    expect(loaders.map(({ path }) => path)).toEqual(["src/cli/emulator/whatsapp-emulator.ts"]);
    const main = sources.find(({ path }) => path === "src/cli/main.ts");
    expect(main?.text).toContain('await import("./emulator/whatsapp-emulator.ts")');
    expect(main?.text).not.toContain('from "./emulator/whatsapp-emulator.ts"');
  });

  test("of the ports import types alone, of other ports and of the catalogue", () => {
    const ports = sources.filter(({ path }) => path.startsWith("src/ports/"));
    const statements = ports.flatMap(({ text }) => text.match(/^import [^;]*;/gm) ?? []);
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.filter((one) => !/^import type [^"]*"\.{1,2}\//.test(one))).toEqual([]);
  });

  test("are one file or one folder, never both", () => {
    const folders = new Set(sources.map(({ path }) => dirname(path)));
    const doubled = sources.filter(({ path }) => folders.has(path.replace(/\.ts$/, "")));
    expect(doubled.map(({ path }) => path)).toEqual([]);
  });

  test("have at most 15 files in a folder", () => {
    // Each resource and each migration is a file of its own.
    const unlimited = ["tools", "src/database/migrations"];
    const folders = sources.map(({ path }) => dirname(path)).filter((folder) => !unlimited.includes(folder));
    const crowded = new Set(folders.filter((one) => folders.filter((other) => other === one).length > 15));
    expect([...crowded]).toEqual([]);
  });

  test.each(Object.keys({ ...modules, ...operatorModules }))(
    "%s has its files in tools/, src/platform/ and test/",
    (name) => {
      const missing = [
        [`tools/${name}.ts`, `tools/${name}/index.ts`],
        [`src/platform/${name}.ts`, `src/platform/${name}/index.ts`],
        [`test/${name}.test.ts`],
      ].filter((places) => !places.some((place) => existsSync(place)));
      expect(missing).toEqual([]);
    },
  );
});

test("only test/support/postgres.ts connects the tests to PostgreSQL, so that they run without a server", async () => {
  const connections = /new pg\.(?:Client|Pool)|TEST_DATABASE_URL/;
  const connecting = (await readSources("test")).filter(({ text }) => connections.test(text));
  expect(connecting.map(({ path }) => path).sort()).toEqual([
    "test/architecture.test.ts",
    // A client of the embedded engine.
    "test/embedded.test.ts",
    // Before the tests: it creates the template.
    "test/support/global-setup.ts",
    "test/support/postgres.ts",
  ]);
});

/** By a trigger on another table of their owner. */
const writtenByTriggers = ["ledger_balances"];

describe("tables", async () => {
  const sources = (await readSources("src")).filter(({ path }) =>
    /^src\/(?:platform|jobs|adapters)\//.test(path),
  );
  const owners = new Map(
    Object.entries({ ...tablesOfLayers, ...tablesOfModules() }).flatMap(([owner, tables]) =>
      tables.map((table) => [table, owner] as const),
    ),
  );

  test("have one owner each, and every table of the database has one", async () => {
    const schema = await readSources("src/database/schema");
    const declared = schema.flatMap(({ text }) =>
      [...text.matchAll(/^ {2}(\w+): (?:\{|Job)/gm)].map(([, name]) => name),
    );
    const owned = Object.values({ ...tablesOfLayers, ...tablesOfModules() }).flat();
    expect([...owned].sort()).toEqual([...new Set(declared)].sort());
  });

  test("are written by their owner alone", () => {
    const writes = sources.flatMap(({ path, text }) =>
      writtenTables(text).map((table) => ({ table, by: ownerOf(path), owner: owners.get(table) })),
    );
    expect(writes.filter(({ by, owner }) => by !== owner)).toEqual([]);
    // Every table is written somewhere: so no write is spelled in a way that this test does not find.
    const unwritten = [...owners.keys()].filter((name) => !writes.some(({ table }) => table === name));
    expect(unwritten).toEqual(writtenByTriggers);
  });

  test.each([
    'tx.updateTable("contacts")',
    'db.insertInto("contacts")',
    'tx.deleteFrom("contacts")',
    'insertAll(tx, "contacts", rows)',
    "with batch as (insert into contacts (id) select 1)",
    "update contacts set name = null",
    "update contacts as contact set name = null",
    "delete from contacts where id = 1",
  ])("a write is found in %s", (source) => {
    expect(writtenTables(source)).toEqual(["contacts"]);
  });
});

describe("every file", async () => {
  const sources = await readSources("tools", "src", "test", "bench", "scripts");
  const product = sources.filter(({ path }) => /^(?:tools|src)\b/.test(path));

  test("opens with a sentence that says what it is", () => {
    expect(sources.filter(({ text }) => !text.startsWith("/**")).map(({ path }) => path)).toEqual([]);
  });

  test("has at most 350 lines", () => {
    expect(sources.filter(({ text }) => linesOf(text) > 350).map(({ path }) => path)).toEqual([]);
  });

  test("of the product has no switch", () => {
    expect(product.filter(({ text }) => /^\s*switch \(/m.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("src/app.ts only wires: it has fewer than 150 lines", async () => {
    expect(linesOf(await readFile("src/app.ts", "utf8"))).toBeLessThan(150);
  });
});

/** The tables of what is no module. */
const tablesOfLayers: Readonly<Record<string, readonly string[]>> = {
  jobs: ["jobs", "dead_jobs", "paced_lanes", "processes"],
  kernel: ["idempotency", "erasures", "outward_calls"],
  settings: ["settings"],
  simulator: [
    ...["simulator_messages", "simulator_faults", "simulator_templates", "simulator_reviews"],
    ...["simulator_payment_orders", "simulator_payments"],
  ],
};

function tablesOfModules(): Record<string, readonly string[]> {
  const all = Object.entries({ ...modules, ...operatorModules });
  return Object.fromEntries(all.map(([name, { tables }]) => [name, tables]));
}

/** The owner that a file belongs to: a module of the platform, or the folder of another layer. */
function ownerOf(path: string): string {
  const [, module] = /^src\/(?:platform|adapters\/(?:channel|payments))\/([\w-]+)/.exec(path) ?? [];
  return module ?? path.split("/")[1] ?? "";
}

/** The tables that a source writes, by Kysely or in SQL. */
function writtenTables(text: string): string[] {
  const kysely = /\.(?:insertInto|updateTable|deleteFrom)\(\s*"(\w+)"|insertAll\(\s*[\w.]+,\s*"(\w+)"/g;
  const statement = /\b(?:insert into|delete from) (\w+)|\bupdate (\w+)(?: as \w+)?\s+set\b/g;
  return [...text.matchAll(kysely), ...text.matchAll(statement)].map(([, one, other]) => one ?? other ?? "");
}

/** Folders of modules, whose index.ts lists the modules and does not hide them. */
const layersOfModules = ["tools", "src/platform"];

interface Source {
  readonly path: string;
  readonly text: string;
  /** The paths of the files that it imports. */
  readonly imports: readonly string[];
}

async function readSources(...folders: string[]): Promise<Source[]> {
  const entriesByFolder = await Promise.all(folders.map((folder) => readdir(folder, { recursive: true })));
  const paths = entriesByFolder.flatMap((entries, index) =>
    entries.filter((entry) => entry.endsWith(".ts")).map((entry) => join(folders[index] ?? "", entry)),
  );
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(path, "utf8");
      const specifiers = [...text.matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)].map(([, name]) => name ?? "");
      return { path, text, imports: specifiers.map((name) => join(dirname(path), name)) };
    }),
  );
}

/** The imports between the children of a folder, by their names. */
function importsBetween(sources: readonly Source[], folder: string): { from: string; to: string }[] {
  const childOf = (path: string) => relative(folder, path).split("/")[0]?.replace(/\.ts$/, "") ?? "";
  return sources
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.startsWith(`${folder}/`))
        .map((target) => ({ from: childOf(path), to: childOf(target) })),
    )
    .filter(({ from, to }) => from !== to);
}

function linesOf(text: string): number {
  return text.split("\n").length - 1;
}
