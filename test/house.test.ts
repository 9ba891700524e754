/** The rules of the house hold: who may import whom, how long a file is, and what stands beside what. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";

/** A file of each room, with imports that it may have and imports that it may not. */
const rooms: Readonly<Record<string, { allowed: string[]; refused: string[] }>> = {
  "tools/planted.ts": {
    allowed: ["zod", "./fields.ts"],
    refused: ["undici", "node:fs", "../src/ports/channel.ts", "../src/platform/index.ts"],
  },
  "src/ports/planted.ts": {
    allowed: ["../../tools/events.ts", "./clock.ts"],
    refused: ["zod", "undici", "node:net", "../database/database.ts", "../platform/index.ts"],
  },
  "src/database/planted.ts": {
    allowed: ["pg", "kysely", "@electric-sql/pglite", "node:fs/promises", "./schema.ts", "../ports/log.ts"],
    refused: ["undici", "fastify", "../jobs/job.ts", "../platform/index.ts", "../../tools/events.ts"],
  },
  "src/database/migrations/planted.ts": {
    allowed: ["kysely", "../schema.ts"],
    refused: ["../../jobs/job.ts", "../../app.ts"],
  },
  "src/jobs/planted.ts": {
    allowed: ["kysely", "croner", "node:timers/promises", "../database/database.ts", "../ports/clock.ts"],
    refused: ["pg", "undici", "../platform/index.ts", "../ports/channel.ts", "../../tools/events.ts"],
  },
  "src/adapters/channel/planted.ts": {
    allowed: ["undici", "zod", "node:crypto", "../../ports/channel.ts"],
    refused: ["pg", "kysely", "fastify", "../../../tools/events.ts", "../../database/database.ts"],
  },
  "src/adapters/channel/planted/index.ts": {
    allowed: ["./faults.ts", "../../../ports/channel.ts"],
    refused: ["../../../platform/index.ts", "../../../http/server.ts", "../../../app.ts"],
  },
  "src/adapters/storage/planted.ts": {
    allowed: ["aws4fetch", "undici", "node:fs/promises", "../../ports/storage.ts"],
    refused: ["../../config.ts", "file-type/core", "../../platform/uploads/index.ts"],
  },
  "src/adapters/web/planted.ts": {
    allowed: ["undici", "ipaddr.js", "node:net", "./rules.ts", "../../ports/web.ts"],
    refused: ["../../config.ts", "../../client.ts", "../../platform/index.ts"],
  },
  "src/adapters/telemetry/planted.ts": {
    allowed: ["prom-client", "@opentelemetry/api", "./off.ts", "../../ports/telemetry.ts"],
    refused: ["undici", "kysely", "../../jobs/job.ts", "../../config.ts"],
  },
  "src/platform/planted.ts": {
    allowed: [
      "zod",
      "kysely",
      "node:crypto",
      "libphonenumber-js/min",
      "./core/module.ts",
      "./core/query/parse.ts",
      "./messages/index.ts",
    ],
    refused: ["undici", "node:http", "node:net", "pg", "fastify", "../adapters/channel/simulator/index.ts"],
  },
  "src/platform/planted/index.ts": {
    allowed: [
      "../../../tools/events.ts",
      "../../ports/channel.ts",
      "../../jobs/job.ts",
      "./part.ts",
      "../contacts.ts",
      "../core/query/matches.ts",
    ],
    refused: [
      "../../http/server.ts",
      "../../mcp/server.ts",
      "../../client.ts",
      "../../config.ts",
      "../messages/send.ts",
    ],
  },
  "src/platform/core/planted.ts": {
    allowed: ["./world.ts", "../../database/database.ts", "../../../tools/scopes.ts"],
    refused: ["../contacts.ts", "../messages/index.ts", "../index.ts"],
  },
  "src/platform/core/query/planted.ts": {
    allowed: ["zod", "./parse.ts", "../../../../tools/cohorts.ts", "libphonenumber-js/min"],
    refused: ["../../contacts.ts", "../../messages/index.ts", "../../../http/server.ts", "undici"],
  },
  "src/platform/contacts.ts": {
    allowed: ["./core/module.ts", "../../tools/contacts.ts", "../../tools/messages.ts"],
    refused: ["./conversations.ts", "./messages/index.ts", "./index.ts"],
  },
  "src/platform/contacts/search.ts": {
    allowed: ["./index.ts", "../core/module.ts"],
    refused: ["../conversations.ts", "../messages/index.ts"],
  },
  "src/platform/conversations.ts": {
    allowed: ["./contacts.ts", "./contacts/index.ts", "./core/module.ts"],
    refused: ["./messages/index.ts", "./messages.ts", "./broadcasts.ts"],
  },
  "src/platform/messages/planted.ts": {
    allowed: ["./send.ts", "../contacts.ts", "../conversations.ts"],
    refused: ["../automation.ts", "../broadcasts/index.ts", "../chatbot.ts", "../index.ts"],
  },
  "src/platform/uploads/planted.ts": {
    allowed: ["file-type/core", "node:crypto", "./kinds.ts", "../core/form.ts", "../../ports/storage.ts"],
    refused: ["file-type", "node:fs", "csv-parse", "../contacts.ts", "../messages/index.ts"],
  },
  "src/platform/imports/planted.ts": {
    allowed: ["csv-parse", "./csv.ts", "../contacts.ts", "../uploads/index.ts"],
    refused: ["file-type/core", "../uploads/receive.ts", "../messages/index.ts", "node:fs"],
  },
  "src/platform/index.ts": {
    allowed: ["./contacts.ts", "./messages/index.ts", "./core/call.ts"],
    refused: ["./messages/send.ts", "undici", "../http/server.ts", "../adapters/channel/simulator/index.ts"],
  },
  "src/http/planted.ts": {
    allowed: ["fastify", "node:http", "./answer.ts", "../../tools/operation.ts", "../platform/index.ts"],
    refused: ["../platform/contacts.ts", "../database/database.ts", "../mcp/server.ts", "kysely", "undici"],
  },
  "src/mcp/planted.ts": {
    allowed: [
      "@modelcontextprotocol/server",
      "@modelcontextprotocol/server/stdio",
      "../client.ts",
      "../../tools/tool.ts",
    ],
    refused: ["../platform/index.ts", "../http/server.ts", "../database/database.ts", "fastify", "../app.ts"],
  },
  "src/client.ts": {
    allowed: ["undici", "node:timers/promises", "./client/failure.ts", "../tools/operation.ts"],
    refused: ["./config.ts", "./platform/index.ts", "./mcp/server.ts", "fastify"],
  },
  "src/client/planted.ts": {
    allowed: ["undici", "./failure.ts", "../../tools/errors.ts"],
    refused: ["../config.ts"],
  },
  "src/folder.ts": { allowed: ["node:fs/promises", "node:net"], refused: ["zod", "./client.ts", "./app.ts"] },
  "src/config.ts": {
    allowed: ["zod", "./config/fields.ts"],
    refused: ["pino", "node:path", "./log.ts", "./app.ts", "../tools/index.ts"],
  },
  "src/config/planted.ts": {
    allowed: ["zod", "ipaddr.js", "node:path", "../../tools/scopes.ts"],
    refused: ["pino", "../log.ts", "../../tools/index.ts"],
  },
  "src/planted.ts": {
    allowed: ["./version.ts"],
    refused: ["./app.ts", "./instance.ts", "./main.ts", "prom-client", "@opentelemetry/api"],
  },
  "src/app.ts": { allowed: ["./http/server.ts", "./platform/index.ts"], refused: ["./main.ts"] },
  "src/instance.ts": { allowed: ["./app.ts"], refused: ["./main.ts"] },
  "src/commands/planted.ts": { allowed: ["../instance.ts", "../config.ts"], refused: ["../main.ts"] },
  "src/main.ts": { allowed: ["./app.ts", "./mcp/stdio.ts"], refused: [] },
  "scripts/planted.ts": { allowed: ["../tools/index.ts"], refused: ["../src/app.ts", "../src/main.ts"] },
  "test/planted.test.ts": { allowed: ["../src/app.ts", "../src/main.ts"], refused: [] },
};

/** What the linter refuses beside imports, each in a file of its own. */
const habits: Readonly<Record<string, readonly [path: string, source: string]>> = {
  noExplicitAny: ["src/habit-any.ts", "export const value: any = 1;"],
  noNonNullAssertion: ["src/habit-assertion.ts", "export const at = (list: string[]) => list[0]!;"],
  noDefaultExport: ["src/habit-default.ts", "export default 1;"],
  noEnum: ["src/habit-enum.ts", "export enum Kind { One }"],
  noProcessEnv: ["src/habit-env.ts", "export const home = process.env.HOME;"],
  noImportCycles: ["tools/cycle-a.ts", 'import type { B } from "./cycle-b.ts";\nexport type A = B;'],
};

interface Diagnostic {
  readonly category: string;
  readonly location: { readonly path: string; readonly start: { readonly line: number } };
}

describe("a forbidden import is refused, and an allowed one passes", () => {
  let folder = "";
  let diagnostics: Diagnostic[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tidings-house-"));
    for (const [path, { allowed, refused }] of Object.entries(rooms)) {
      await plant(path, [...allowed, ...refused].map((name) => `import "${name}";`).join("\n"));
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

  test.each(Object.entries(rooms))("%s", (path, { allowed, refused }) => {
    const planted = [...allowed, ...refused];
    const lines = diagnostics
      .filter(({ category, location }) => category.endsWith("/noRestrictedImports") && location.path === path)
      .map(({ location }) => location.start.line);
    expect(planted.filter((_, index) => lines.includes(index + 1))).toEqual(refused);
  });

  test.each(Object.entries(habits))("%s", (rule, [path]) => {
    const found = diagnostics
      .filter(({ location }) => location.path === path)
      .map(({ category }) => category);
    expect(found).toEqual([expect.stringContaining(`/${rule}`)]);
  });
});

function lint(folder: string): Promise<Diagnostic[]> {
  const biome = join(process.cwd(), "node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "lint", "--reporter=json", "--max-diagnostics=none", "--diagnostic-level=error"];
  return new Promise((resolve, reject) => {
    // It ends with 1, because it finds what was planted; only an answer that is no report is an error.
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 24 }, (error, report) => {
      try {
        resolve(JSON.parse(report).diagnostics);
      } catch {
        reject(error);
      }
    });
  });
}

describe("every file", async () => {
  const files = await sources("tools", "src", "test", "bench", "scripts");

  test("opens with a sentence that says what it is", async () => {
    const openings = await Promise.all(
      files.map(async (file) => [file, (await readFile(file, "utf8")).slice(0, 3)]),
    );
    expect(openings.filter(([, opening]) => opening !== "/**").map(([file]) => file)).toEqual([]);
  });

  test("of the product has at most 300 lines and no switch", async () => {
    const product = files.filter((file) => /^(?:tools|src)\b/.test(file));
    const texts = await Promise.all(
      product.map(async (file) => ({ file, text: await readFile(file, "utf8") })),
    );
    expect(texts.filter(({ text }) => text.split("\n").length > 301).map(({ file }) => file)).toEqual([]);
    expect(texts.filter(({ text }) => /^\s*switch \(/m.test(text)).map(({ file }) => file)).toEqual([]);
  });
});

describe("tools/, src/platform/ and test/ carry the same names", () => {
  test.each(Object.keys(modules))("%s", (name) => {
    const missing = [
      [`tools/${name}.ts`],
      [`src/platform/${name}.ts`, `src/platform/${name}/index.ts`],
      [`test/${name}.test.ts`],
    ].filter((places) => !places.some((place) => existsSync(place)));
    expect(missing).toEqual([]);
  });
});

async function sources(...folders: string[]): Promise<string[]> {
  const found = await Promise.all(folders.filter((folder) => existsSync(folder)).map(list));
  return found.flat();
}

async function list(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return entries.filter((entry) => entry.endsWith(".ts")).map((entry) => join(folder, entry));
}
