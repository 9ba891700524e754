/** The documentation names only what exists: files, headings, commands, settings and routes. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import about from "../package.json" with { type: "json" };
import { settings } from "../src/config/index.ts";
import { modules, operationsOf } from "../src/platform/index.ts";
import { catalogue } from "../tools/index.ts";

const documents = (await readdir("docs", { recursive: true })).filter((file) => file.endsWith(".md"));
const skills = (await readdir("skills")).map((name) => join("skills", name, "SKILL.md"));
const pages = ["README.md", "CONTRIBUTING.md", ...documents.map((file) => join("docs", file)), ...skills];

describe.each(pages)("%s", (page) => {
  test("links to files and headings that exist", async () => {
    const targets = matches(await readFile(page, "utf8"), /\]\(([^)\s]+)\)/g).filter(
      (link) => !/^https?:/.test(link),
    );
    const broken = await Promise.all(
      targets.map(async (link) => ((await isReachable(page, link)) ? [] : link)),
    );
    expect(broken.flat()).toEqual([]);
  });

  test("names paths of the repository that exist", async () => {
    const paths = matches(
      await readFile(page, "utf8"),
      /`((?:\.ci|bench|docs|scripts|src|test|tools)\/[\w./-]*)`/g,
    );
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  test("names commands and settings that exist", async () => {
    const text = await readFile(page, "utf8");
    const scripts = matches(text, /npm run ([\w-]+)/g);
    expect(scripts.filter((name) => !Object.hasOwn(about.scripts, name))).toEqual([]);
    const named = matches(text, /\b(TIDINGS_\w+)/g);
    expect(named.filter((name) => !settings.some((one) => one.name === name))).toEqual([]);
  });

  // The error reference is generated from the catalogue, which also names operations that
  // are not implemented.
  test.skipIf(page.startsWith("docs/reference/"))("names routes that are implemented", async () => {
    const text = await readFile(page, "utf8");
    const named = matches(text, /((?:GET|POST|PUT|PATCH|DELETE) \/v1\/[\w/{}.-]*\w\}?)/g);
    expect(named.filter((route) => !routes.has(withoutNames(route)))).toEqual([]);
  });
});

describe("docs/api.md", () => {
  test("names the operations whose requests call another server", async () => {
    const [paragraph = ""] = matches(await readFile("docs/api.md", "utf8"), /^(Some operations make .+)$/gm);
    const outward = Object.entries(catalogue)
      .filter(([, { effect }]) => effect === "outward" || effect === "streamed")
      .map(([name]) => name);
    expect(matches(paragraph, /`(\w+)`/g).sort()).toEqual(outward.sort());
  });

  test("has the prefixes of all ids that an answer can have", async () => {
    const files = (await readdir("src", { recursive: true })).filter((file) => file.endsWith(".ts"));
    const sources = await Promise.all(files.map((file) => readFile(join("src", file), "utf8")));
    const created = matches(sources.join("\n"), /\b(?:newId\(|freshId\([^"]*?, )"(\w+)"/g);
    const listed = matches(await readFile("docs/api.md", "utf8"), /`([a-z_]+)_` \| /g);
    expect(listed.sort()).toEqual([...new Set(created)].filter((prefix) => !internalIds.has(prefix)).sort());
  });
});

/** Ids of jobs, processes, secrets and references, which no answer has. */
const internalIds = new Set(["batch", "firing", "fsec", "job", "por", "proc", "rft", "ses"]);

const routes = new Set([
  "GET /v1/openapi.json",
  ...Object.values(modules).flatMap((module) =>
    module.routes.flatMap(({ methods, path }) => methods.map((method) => withoutNames(`${method} ${path}`))),
  ),
  ...Object.values(operationsOf()).flatMap((operation) =>
    [operation, ...operation.also].map(({ path }) => withoutNames(`${operation.method} ${path}`)),
  ),
]);

function withoutNames(route: string): string {
  return route.replace(/\{\w+\}/g, "{}");
}

function matches(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([, group = ""]) => group);
}

async function isReachable(page: string, link: string): Promise<boolean> {
  const [file = "", heading] = link.split("#");
  const path = file === "" ? page : join(dirname(page), file);
  if (!existsSync(path)) {
    return false;
  }
  return heading === undefined || headingsOf(await readFile(path, "utf8")).includes(heading);
}

/** The headings as GitHub turns them into anchors. */
function headingsOf(text: string): string[] {
  return matches(text, /^#+ (.+)$/gm).map((title) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}
