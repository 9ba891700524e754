/** The architecture: which layer may import which, what a module is, and rules for every file. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";

/** A planted file of each layer, with imports that the linter must allow and imports that it must reject. */
const layers: Readonly<Record<string, { allowed: string[]; rejected: string[] }>> = {
  "tools/planted.ts": {
    allowed: ["zod", "./contract/index.ts"],
    rejected: ["undici", "node:fs", "../src/ports/channel.ts"],
  },
  "src/ports/planted.ts": {
    allowed: ["../../tools/events.ts", "./clock.ts"],
    rejected: ["zod", "node:net", "../database/database.ts", "../platform/index.ts", "../app.ts"],
  },
  "src/database/planted.ts": {
    allowed: ["pg", "kysely", "@electric-sql/pglite", "node:fs/promises", "./id.ts", "../ports/log.ts"],
    rejected: ["undici", "../jobs/job.ts", "../platform/index.ts", "../../tools/events.ts", "../app.ts"],
  },
  "src/database/migrations/planted.ts": {
    allowed: ["kysely", "../schema/index.ts"],
    rejected: ["../../jobs/job.ts", "../../platform/kernel/index.ts", "../../app.ts"],
  },
  "src/jobs/planted.ts": {
    allowed: ["kysely", "croner", "node:timers/promises", "../database/database.ts", "../ports/clock.ts"],
    rejected: ["pg", "undici", "../platform/index.ts", "../../tools/events.ts", "../config/index.ts"],
  },
  "src/platform/planted.ts": {
    allowed: ["zod", "kysely", "node:crypto", "./kernel/index.ts", "../../tools/index.ts", "../jobs/job.ts"],
    rejected: ["undici", "node:http", "pg", "../adapters/web/index.ts", "../client/index.ts", "../app.ts"],
  },
  "src/platform/planted/index.ts": {
    allowed: ["../kernel/index.ts", "../../ports/web.ts", "../../../tools/events.ts", "./part.ts"],
    rejected: ["../../http/server.ts", "../../mcp/server.ts", "../../config/index.ts", "../../cli/main.ts"],
  },
  "src/adapters/web/planted.ts": {
    allowed: ["undici", "ipaddr.js", "node:net", "./rules.ts", "../../ports/web.ts"],
    rejected: ["pg", "kysely", "../../config/index.ts", "../../platform/index.ts", "../../jobs/job.ts"],
  },
  "src/adapters/channel/simulator/planted.ts": {
    allowed: ["zod", "kysely", "../../../database/database.ts", "../../../ports/channel.ts"],
    rejected: ["undici", "../../../platform/index.ts", "../../../http/server.ts"],
  },
  "src/client/planted.ts": {
    allowed: ["undici", "node:timers/promises", "./failure.ts", "../../tools/errors.ts"],
    rejected: ["fastify", "../platform/index.ts", "../config/index.ts", "../mcp/server.ts"],
  },
  "src/config/planted.ts": {
    allowed: ["zod", "ipaddr.js", "node:path", "../../tools/contract/index.ts"],
    rejected: ["node:fs", "../database/connect.ts", "../mcp/server.ts"],
  },
  "src/http/planted.ts": {
    allowed: ["fastify", "node:http", "./answer.ts", "../../tools/index.ts", "../platform/index.ts"],
    rejected: ["kysely", "../platform/kernel/index.ts", "../database/database.ts", "../mcp/server.ts"],
  },
  "src/mcp/planted.ts": {
    allowed: ["@modelcontextprotocol/server", "node:http", "../client/index.ts", "../../tools/index.ts"],
    rejected: ["undici", "fastify", "../platform/index.ts", "../http/server.ts", "../config/index.ts"],
  },
};

/** What the linter must reject besides imports, each in a separate file. */
const habits: Readonly<Record<string, readonly [path: string, source: string]>> = {
  noExplicitAny: ["src/habit-any.ts", "export const value: any = 1;"],
  noNonNullAssertion: ["src/habit-assertion.ts", "export const at = (list: string[]) => list[0]!;"],
  noDefaultExport: ["src/habit-default.ts", "export default 1;"],
  noEnum: ["src/habit-enum.ts", "export enum Kind { One }"],
  noProcessEnv: ["src/habit-env.ts", "export const home = process.env.HOME;"],
  noImportCycles: ["tools/cycle-a.ts", 'import type { B } from "./cycle-b.ts";\nexport type A = B;'],
};

/** The platform's modules in order: each may import only those before it. */
const moduleOrder = [
  ...["kernel", "query", "identity"],
  ...["contacts", "users", "inboxes", "quick-replies", "uploads", "api-keys", "auth", "mcp", "webhooks"],
  ...["routing", "teams", "conversations", "messages", "imports", "bootstrap", "index"],
];

interface Diagnostic {
  readonly category: string;
  readonly location: { readonly path: string; readonly start: { readonly line: number } };
}

describe("the linter", () => {
  let folder = "";
  let diagnostics: Diagnostic[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tidings-architecture-"));
    for (const [path, { allowed, rejected }] of Object.entries(layers)) {
      await plant(path, [...allowed, ...rejected].map((name) => `import "${name}";`).join("\n"));
    }
    for (const [path, source] of Object.values(habits)) {
      await plant(path, source);
    }
    await plant("tools/cycle-b.ts", 'import type { A } from "./cycle-a.ts";\nexport type B = A;');
    await copyFile(".biome.json", join(folder, ".biome.json"));
    diagnostics = await lint(folder);
  });

  afterAll(() => rm(folder, { recursive: true }));

  async function plant(path: string, source: string): Promise<void> {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `${source}\n`);
  }

  test.each(Object.entries(layers))("rejects only the forbidden imports of %s", (path, planted) => {
    const names = [...planted.allowed, ...planted.rejected];
    const lines = diagnostics
      .filter(({ category, location }) => category.endsWith("/noRestrictedImports") && location.path === path)
      .map(({ location }) => location.start.line);
    expect(names.filter((_, index) => lines.includes(index + 1))).toEqual(planted.rejected);
  });

  test.each(Object.entries(habits))("enforces %s", (rule, [path]) => {
    const categories = diagnostics
      .filter(({ location }) => location.path === path)
      .map(({ category }) => category);
    expect(categories).toEqual([expect.stringContaining(`/${rule}`)]);
  });

  test("has a rule for every layer, and no more than 12 overrides", async () => {
    const { overrides } = JSON.parse(await readFile(".biome.json", "utf8")) as {
      overrides: { includes: string[] }[];
    };
    expect(overrides.length).toBeLessThanOrEqual(12);
    const named = overrides.flatMap(({ includes }) => includes.map((glob) => glob.replace("/**", "")));
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
    const folders = (await readdir("src", { withFileTypes: true }))
      .filter((entry) => entry.isDirectory() && entry.name !== "cli")
      .map(({ name }) => `src/${name}`);
    expect(folders.filter((path) => !named.includes(path))).toEqual([]);
  });
});

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

  test("are one file or one folder, never both", () => {
    const folders = new Set(sources.map(({ path }) => dirname(path)));
    const doubled = sources.filter(({ path }) => folders.has(path.replace(/\.ts$/, "")));
    expect(doubled.map(({ path }) => path)).toEqual([]);
  });

  test("have at most 15 files in a folder", () => {
    const folders = sources.map(({ path }) => dirname(path)).filter((folder) => folder !== "tools");
    const crowded = new Set(folders.filter((one) => folders.filter((other) => other === one).length > 15));
    expect([...crowded]).toEqual([]);
  });

  test.each(Object.keys(modules))("%s has its files in tools/, src/platform/ and test/", (name) => {
    const missing = [
      [`tools/${name}.ts`, `tools/${name}/index.ts`],
      [`src/platform/${name}.ts`, `src/platform/${name}/index.ts`],
      [`test/${name}.test.ts`],
    ].filter((places) => !places.some((place) => existsSync(place)));
    expect(missing).toEqual([]);
  });
});

describe("every file", async () => {
  const sources = await readSources("tools", "src", "test", "bench", "scripts");
  const product = sources.filter(({ path }) => /^(?:tools|src)\b/.test(path));

  test("opens with a sentence that says what it is", () => {
    expect(sources.filter(({ text }) => !text.startsWith("/**")).map(({ path }) => path)).toEqual([]);
  });

  test("has at most 300 lines", () => {
    expect(sources.filter(({ text }) => linesOf(text) > 300).map(({ path }) => path)).toEqual([]);
  });

  test("of the product has no switch", () => {
    expect(product.filter(({ text }) => /^\s*switch \(/m.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("src/app.ts only wires: it has fewer than 150 lines", async () => {
    expect(linesOf(await readFile("src/app.ts", "utf8"))).toBeLessThan(150);
  });
});

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

function lint(folder: string): Promise<Diagnostic[]> {
  const biome = join(process.cwd(), "node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "lint", "--reporter=json", "--max-diagnostics=none", "--diagnostic-level=error"];
  return new Promise((resolve, reject) => {
    // The linter exits with 1 because of the planted files; only output that is no report is an error.
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 24 }, (error, report) => {
      try {
        resolve(JSON.parse(report).diagnostics);
      } catch {
        reject(error);
      }
    });
  });
}
