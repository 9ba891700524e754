/** The architecture: what a module is, and who reads and writes which table. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { findChains, type Link } from "../scripts/mutate/find/kysely.ts";
import { parseSource, stringOf } from "../scripts/mutate/find/source.ts";
import { createKernelJobs, sealedResponses } from "../src/platform/foundation/kernel/index.ts";
import { modules, operatorModules } from "../src/platform/index.ts";
import { readSources } from "./support/sources.ts";
import { findTables } from "./support/tables.ts";

/**
 * The domains of the platform, and the modules of each, lowest first. A module may import those before it,
 * and read their tables; it writes only its own.
 */
const domains: Readonly<Record<string, readonly string[]>> = {
  foundation: ["sealing", "kernel", "settings", "cursor-texts", "problems", "query"],
  account: ["phone", "organization", "identity", "users", "rules", "api-keys", "auth", "inboxes"],
  money: ["prices", "wallet", "payments", "billing", "pricing"],
  content: ["uploads", "media", "templates", "quick-replies", "knowledge-base"],
  inbox: ["contacts", "teams", "routing", "conversations", "notes", "messages"],
  automation: ["webhooks", "imports", "cohorts", "broadcasts", "chatbot", "flows"],
  operations: ["ledger", "plans", "activity", "bootstrap", "restore", "operator", "clock", "mcp"],
};
const modulePaths = Object.entries(domains).flatMap(([domain, names]) =>
  names.map((name) => `src/platform/${domain}/${name}`),
);
/** A file may read the tables of what is before it. */
const readOrder = ["src/jobs", ...modulePaths, "src/platform"];

test("the page about the architecture lists every entry of the repository", async () => {
  const page = await readFile("docs/architecture.md", "utf8");
  const [, table = ""] = page.split("## The repository");
  const rows = (table.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| `"));
  const listed = rows.flatMap((row) =>
    Array.from(row.split("|")[1]?.matchAll(/`([^`]+)`/g) ?? [], ([, name]) => name),
  );
  const ignored = (await readFile(".gitignore", "utf8")).split("\n").map((line) => line.replace("/", ""));
  const entries = (await readdir(".", { withFileTypes: true }))
    .filter(({ name }) => name !== ".git" && !ignored.includes(name))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  expect(listed.sort()).toEqual(entries.sort());
});

describe("modules", async () => {
  const sources = await readSources("src", "tools", "emulator");

  test("of the platform stand in its domains, which have no other entries", async () => {
    const entries = async (folder: string) =>
      (await readdir(folder)).map((name) => name.replace(/\.ts$/, ""));
    expect((await entries("src/platform")).sort()).toEqual([...Object.keys(domains), "index"].sort());
    for (const [domain, names] of Object.entries(domains)) {
      expect((await entries(`src/platform/${domain}`)).sort()).toEqual([...names].sort());
    }
  });

  test("of the platform import only modules below them", () => {
    const isUpward = (from: string, to: string) => modulePaths.indexOf(to) > modulePaths.indexOf(from);
    const upward = sources.flatMap(({ path, imports }) => {
      const from = moduleOf(path);
      const targets = imports.filter((target) => target.startsWith("src/platform/"));
      return targets
        .filter((target) => from !== undefined && isUpward(from, moduleOf(target) ?? "src/platform/index.ts"))
        .map((target) => `${path} imports ${target}`);
    });
    expect(upward).toEqual([]);
  });

  test("declare at most 15 hooks", () => {
    const hooks = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/^export const (\w+) =\s+defineHook</gm)].map(([, name]) => `${path}: ${name}`),
    );
    expect(hooks.length).toBeGreaterThan(0);
    expect(hooks.length).toBeLessThanOrEqual(15);
    // Each is found.
    const count = sources.flatMap(({ text }) => [...text.matchAll(/defineHook</g)]).length;
    expect(count - 1).toBe(hooks.length);
  });

  test("have a kernel that exports at most 40 names, each by name", () => {
    const index = sources.find(({ path }) => path === `${kernel}/index.ts`)?.text ?? "";
    const lists = [...index.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, names]) => names ?? "");
    const names = lists.flatMap((list) => list.split(",").filter((name) => name.trim() !== ""));
    expect(index).not.toContain("export *");
    expect(names.length).toBeGreaterThan(0);
    expect(names.length).toBeLessThanOrEqual(40);
  });

  test("that are folders are imported through index.ts alone", () => {
    const paths = new Set(sources.map(({ path }) => path));
    const bypasses = sources.flatMap(({ path, imports }) =>
      imports
        .filter((target) => {
          const folder = dirname(target);
          const isModule = !listsOfModules.includes(folder) && paths.has(join(folder, "index.ts"));
          return isModule && !path.startsWith(`${folder}/`) && basename(target) !== "index.ts";
        })
        .map((target) => `${path} imports ${target}`),
    );
    expect(bypasses).toEqual([]);
  });

  test("of the emulator are loaded by its command alone, and that by import()", () => {
    const loaders = sources.filter(
      ({ path, imports }) =>
        !path.startsWith("emulator/") && imports.some((target) => target.startsWith("emulator/")),
    );
    expect(loaders.map(({ path }) => path)).toEqual(["src/cli/emulator/whatsapp-emulator.ts"]);
    const table = sources.find(({ path }) => path === "src/cli/commands/table.ts");
    expect(table?.text).toContain('await import("../emulator/whatsapp-emulator.ts")');
    expect(table?.text).not.toContain('from "../emulator/whatsapp-emulator.ts"');
  });

  test("of the platform name no vendor of a channel, except in stored and public names", () => {
    const vendor = /whatsapp|\bMeta\b|waba|bsuid|to_kind/i;
    // The word meta alone is the member of a response with a list.
    const withoutMeta = (text: string) => text.replaceAll(/\bmeta\b|META-INF/g, "");
    const naming = sources
      .filter(({ path, text }) => path.startsWith("src/platform/") && vendor.test(withoutMeta(text)))
      .map(({ path }) => path);
    expect(naming.sort()).toEqual([
      // The names of columns.
      "src/platform/account/inboxes/accounts.ts",
      "src/platform/inbox/contacts/find/create.ts",
      "src/platform/inbox/contacts/identities/kinds.ts",
      // The source of the bundled prices.
      "src/platform/money/prices/bundled.ts",
    ]);
  });

  test("of the ports import types alone, of other ports and of the catalogue", () => {
    const ports = sources.filter(({ path }) => path.startsWith("src/ports/"));
    const statements = ports.flatMap(({ text }) => text.match(/^import [^;]*;/gm) ?? []);
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.filter((one) => !/^import type [^"]*"\.{1,2}\//.test(one))).toEqual([]);
  });

  test("of the console import types of the catalogue, and nothing else of the repository", async () => {
    const external = /^(preact|preact\/hooks|preact-iso\/(lazy|router)|@preact\/signals|virtual:operations)$/;
    const files = (await readdir("console", { recursive: true })).filter((path) => /\.tsx?$/.test(path));
    const imports = await Promise.all(
      files
        .filter((path) => !path.startsWith("build/"))
        .map(async (path) => {
          const text = await readFile(join("console", path), "utf8");
          return Array.from(
            text.matchAll(/^import (type )?(?:[^;"]* from )?"([^"]+)";|\bimport\("([^"]+)"\)/gm),
            ([, type, named, dynamic]) => ({
              path,
              isType: type !== undefined,
              target: named ?? dynamic ?? "",
            }),
          );
        }),
    );
    const wrong = imports.flat().filter(({ path, isType, target }) => {
      const resolved = join("console", dirname(path), target);
      const isOwn = target.startsWith(".") && resolved.startsWith("console/");
      return !isOwn && !external.test(target) && !(isType && resolved.startsWith("tools/"));
    });
    expect(imports.flat().length).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
  });

  test("are one file or one folder, never both", () => {
    const folders = new Set(sources.map(({ path }) => dirname(path)));
    const doubled = sources.filter(({ path }) => folders.has(path.replace(/\.ts$/, "")));
    expect(doubled.map(({ path }) => path)).toEqual([]);
  });

  test("have at most 15 entries in a folder, files or folders", async () => {
    // Each migration is a file of its own.
    const unlimited = ["src/database/migrations"];
    // Each resource is a file or a folder of its own in tools/.
    const roots = ["src", "emulator", "scripts", "tools/contract"];
    const entries = await Promise.all(
      roots.map((root) => readdir(root, { recursive: true, withFileTypes: true })),
    );
    const folders = entries.flat().map(({ parentPath }) => parentPath);
    expect(new Set(folders).size).toBeGreaterThan(100);
    const crowded = new Set(folders.filter((one) => folders.filter((other) => other === one).length > 15));
    expect([...crowded].filter((folder) => !unlimited.includes(folder))).toEqual([]);
  });

  test.each(Object.keys({ ...modules, ...operatorModules }))(
    "%s has its files in tools/, src/platform/ and test/",
    (name) => {
      const missing = [
        [`tools/${name}.ts`, `tools/${name}/index.ts`],
        modulePaths
          .filter((path) => basename(path) === name)
          .flatMap((path) => [`${path}.ts`, `${path}/index.ts`]),
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

/** By a trigger on a table of their owner or of a module above. */
const writtenByTriggers = ["suspended_organizations", "listened_events", "ledger_balances"];

describe("tables", async () => {
  const sources = (await readSources("src")).filter(({ path }) =>
    /^src\/(?:platform|jobs|adapters|cli|http|database\/(?!schema|migrations))/.test(path),
  );
  const owners = new Map(
    Object.entries({ ...tablesOfLayers, ...tablesOfModules() }).flatMap(([owner, tables]) =>
      tables.map((table) => [table, owner] as const),
    ),
  );
  const names = new Set(owners.keys());
  const uses = sources.map(({ path, text }) => ({ path, ...findTables(path, text, names) }));

  test("have one owner each, and every table of the database has one", async () => {
    const schema = await readSources("src/database/schema");
    const declared = schema.flatMap(({ text }) =>
      [...text.matchAll(/^ {2}(\w+): (?:\{|Job)/gm)].map(([, name]) => name),
    );
    const owned = Object.values({ ...tablesOfLayers, ...tablesOfModules() }).flat();
    expect([...owned].sort()).toEqual([...new Set(declared)].sort());
  });

  test("are named where they are read and written", () => {
    expect(uses.flatMap(({ unclear }) => unclear)).toEqual([]);
  });

  test("are written by their owner alone", () => {
    const writes = uses.flatMap(({ path, written }) =>
      written.map((table) => ({ path, table, by: ownerOf(path), owner: owners.get(table) })),
    );
    const foreign = writes.filter(({ by, owner }) => by !== owner);
    expect(foreign.map(({ path, table, owner }) => `${path} writes ${table} of ${owner}`)).toEqual([]);
    // Every table is written somewhere: so no write is spelled in a way that this test does not find.
    const unwritten = [...owners.keys()].filter((name) => !writes.some(({ table }) => table === name));
    expect(unwritten.sort()).toEqual([...writtenByTriggers].sort());
  });

  test("are read by their owner and by modules above it alone", () => {
    const reads = uses.flatMap(({ path, named }) =>
      named.map((table) => ({ path, table, by: ownerOf(path), owner: owners.get(table) ?? "" })),
    );
    const isDownward = ({ by, owner }: { by: string; owner: string }) =>
      by === owner ||
      (by === simulator
        ? owner === "src/jobs"
        : owner !== simulator && readOrder.indexOf(owner) < readOrder.indexOf(by));
    const upward = reads.filter((read) => !isDownward(read));
    expect(upward.map(({ path, table, owner }) => `${path} reads ${table} of ${owner}`)).toEqual([]);
  });

  test("that a module hands to the kernel as retained or sealed are its own", () => {
    const all = Object.entries({ ...modules, ...operatorModules });
    const foreign = all.flatMap(([name, { jobs, sealed, tables }]) =>
      [...jobs.flatMap(({ retention = [] }) => retention), ...sealed]
        .filter(({ table }) => !tables.includes(table))
        .map(({ table }) => `${name} hands in ${table}`),
    );
    expect(foreign).toEqual([]);
    const ofKernel = [...createKernelJobs([]).flatMap(({ retention = [] }) => retention), sealedResponses];
    // The rule for dead jobs stands in src/jobs.
    const allowed = [kernel, "src/jobs"];
    expect(ofKernel.filter(({ table }) => !allowed.includes(owners.get(table) ?? ""))).toEqual([]);
  });

  test("of one organization are read and changed through ofOrganization", () => {
    const compares = ({ name, node }: Link) =>
      name === "where" && /^(?:\w+\.)?organization_id$/.test(stringOf(node.arguments[0]) ?? "");
    const byHand = sources.filter(({ path, text }) => {
      const chains = text.includes('organization_id", "="') ? findChains(parseSource(path, text)) : [];
      return chains.some(([first, ...rest]) => {
        const db = first ? text.slice(first.object.start, first.object.end) : "";
        const table = first ? stringOf(first.node.arguments[0]) : undefined;
        // A table with another name is beyond the helper.
        return /(?:^|\.)(?:tx|db|queries)$/.test(db) && table?.includes(" ") === false && rest.some(compares);
      });
    });
    expect(byHand.map(({ path }) => path)).toEqual([]);
  });
});

/** The tables of what is no module. */
const simulator = "simulator";
const kernel = "src/platform/foundation/kernel";
const tablesOfLayers: Readonly<Record<string, readonly string[]>> = {
  "src/jobs": ["jobs", "dead_jobs", "paced_lanes", "processes", "suspended_organizations"],
  [kernel]: ["idempotency", "erasures", "outward_calls", "listened_events"],
  "src/platform/foundation/settings": ["settings"],
  [simulator]: [
    "simulator_messages",
    "simulator_faults",
    "simulator_templates",
    "simulator_reviews",
    "simulator_payment_orders",
    "simulator_payments",
  ],
};

function tablesOfModules(): Record<string, readonly string[]> {
  const all = Object.entries({ ...modules, ...operatorModules });
  return Object.fromEntries(
    all.map(([name, { tables }]) => [modulePaths.find((path) => basename(path) === name) ?? name, tables]),
  );
}

/** The module of the platform that a file belongs to; undefined for others. */
function moduleOf(path: string): string | undefined {
  return /^src\/platform\/[\w-]+\/[\w-]+(?=\/|\.ts$)/.exec(path)?.[0];
}

/** The owner of tables that a file belongs to: a module of the platform, a simulator, or another layer. */
function ownerOf(path: string): string {
  const isSimulator = /^src\/adapters\/(?:channel|payments)\/simulator\//.test(path);
  return moduleOf(path) ?? (isSimulator ? simulator : path.split("/").slice(0, 2).join("/"));
}

/** Folders whose index.ts lists modules and does not hide them. */
const listsOfModules = ["tools", "src/platform"];
