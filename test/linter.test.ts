/** The linter: which layer may import which, and what no file may contain. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/** A planted file of each layer, with imports that the linter must allow and imports that it must reject. */
const layers: Readonly<Record<string, { allowed: string[]; rejected: string[] }>> = {
  "tools/planted.ts": {
    allowed: ["zod", "./contract/index.ts"],
    rejected: ["undici", "node:fs", "../src/ports/channel/channel.ts"],
  },
  "src/ports/planted.ts": {
    allowed: ["../../tools/events.ts", "./clock.ts"],
    rejected: ["undici", "node:net", "../database/database.ts", "../platform/index.ts", "../app.ts"],
  },
  "src/streams/planted.ts": {
    allowed: ["./bytes.ts"],
    rejected: ["node:fs", "undici", "../adapters/http-client/index.ts", "../platform/index.ts", "../app.ts"],
  },
  "src/texts/planted.ts": {
    allowed: ["./cut.ts"],
    rejected: ["node:fs", "undici", "../database/database.ts", "../platform/index.ts", "../app.ts"],
  },
  "src/time/planted.ts": {
    allowed: ["./deadline.ts", "../ports/clock.ts"],
    rejected: ["node:fs", "../database/database.ts", "../jobs/job.ts", "../platform/index.ts", "../app.ts"],
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
    allowed: [
      "undici",
      "ipaddr.js",
      "node:net",
      "./rules.ts",
      "../http-client/index.ts",
      "../../ports/web.ts",
    ],
    rejected: ["pg", "kysely", "../../config/index.ts", "../../platform/index.ts", "../../jobs/job.ts"],
  },
  "src/adapters/channel/simulator/planted.ts": {
    allowed: ["zod", "kysely", "../../../database/database.ts", "../../../ports/channel/channel.ts"],
    rejected: ["undici", "../../../platform/index.ts", "../../../http/server.ts"],
  },
  "src/adapters/payments/simulator/planted.ts": {
    allowed: ["zod", "kysely", "../../../database/database.ts", "../../../ports/payments.ts"],
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
  "emulator/planted.ts": {
    allowed: ["zod", "undici", "ajv/dist/2020.js", "node:http", "./http/server.ts", "./state/store.ts"],
    rejected: ["fastify", "../src/platform/index.ts", "../src/http/server.ts", "../src/config/index.ts"],
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
  noFloatingPromises: ["src/habit-promise.ts", "const load = async () => 1;\nload();"],
  noImportCycles: ["tools/cycle-a.ts", 'import type { B } from "./cycle-b.ts";\nexport type A = B;'],
};

/** The rules of scripts/lint/, each with lines that it must allow and lines that it must reject. */
const plugins: Readonly<Record<string, { allowed: string[]; rejected: string[] }>> = {
  "abort-signal-any": {
    allowed: ["export const late = AbortSignal.timeout(1);"],
    rejected: ["export const either = (a: AbortSignal) => AbortSignal.any([a, AbortSignal.timeout(1)]);"],
  },
  "packed-spread": {
    allowed: [
      "export const some = (a: object | undefined, b: string[]) => [{ ...a, ...(a ? { b } : {}) }, ...b];",
      "export const most = (b: Set<number>) => Math.max(...[...b].map((one) => one + 1));",
    ],
    rejected: [
      "export const one = (a: string, b: string) => ({ ...{ a, b } });",
      "export const two = (a: string, b: string) => ({ ...({ a, b } as const) });",
      "export const three = (a: string, b: string) => [...[a, b]];",
      "export const four = (a: string, b: string) => [...([a, b] satisfies string[])];",
      "export const five = (a: number, b: number) => Math.max(...[a, b]);",
    ],
  },
};

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
    for (const [name, { allowed, rejected }] of Object.entries(plugins)) {
      await plant(`src/${name}.ts`, [...allowed, ...rejected].join("\n"));
    }
    await plant("tools/cycle-b.ts", 'import type { A } from "./cycle-a.ts";\nexport type B = A;');
    await cp("scripts/lint", join(folder, "scripts/lint"), { recursive: true });
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
    expect(categories).toEqual([expect.stringMatching(new RegExp(`(^|/)${rule}$`))]);
  });

  test.each(Object.entries(plugins))("enforces scripts/lint/%s.grit", (name, { allowed, rejected }) => {
    const lines = diagnostics
      .filter(({ category, location }) => category === "plugin" && location.path === `src/${name}.ts`)
      .map(({ location }) => location.start.line);
    expect([...allowed, ...rejected].filter((_, index) => lines.includes(index + 1))).toEqual(rejected);
  });

  test("has a proof for every rule of its own", async () => {
    const rules = (await readdir("scripts/lint")).map((file) => file.replace(/\.grit$/, ""));
    expect(rules.sort()).toEqual(Object.keys(plugins).sort());
  });

  test("has a rule for every layer, and no more than 12 overrides", async () => {
    const { overrides } = JSON.parse(await readFile(".biome.json", "utf8")) as {
      overrides: { includes: string[] }[];
    };
    expect(overrides.length).toBeLessThanOrEqual(12);
    const named = overrides.flatMap(({ includes }) =>
      includes.map((glob) => glob.replace(/^!|\/\*\*$/g, "")),
    );
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
    const folders = (await readdir("src", { withFileTypes: true }))
      .filter((entry) => entry.isDirectory() && entry.name !== "cli")
      .map(({ name }) => `src/${name}`);
    expect(folders.filter((path) => !named.includes(path))).toEqual([]);
  });
});

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
