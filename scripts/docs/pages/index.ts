/**
 * Builds the pages that the service shows under /docs/: the guides and the reference as HTML, with a style
 * sheet, a script for searching and copying, and the index that is searched.
 */
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { escapeHtml, layOut, type ShownPage } from "./layout.ts";
import { groups, type PageSource, unserved, unservedSections } from "./navigation.ts";
import { type RenderedPage, renderPage } from "./render.ts";

/** The folders of pictures, which are served under the same names. */
const pictureFolders = ["drawings", "images"];
const sources = groups.flatMap(({ pages }) => pages);

export async function buildPages(folder: string): Promise<void> {
  await requireAllPages();
  const titles = await readTitles();
  const rendered = new Map<string, RenderedPage>();
  for (const source of sources) {
    rendered.set(source.path, await render(source, titles));
  }
  const options = { groups, addressOf: toAddress, titleOf: (path: string) => titleOf(rendered, path) };
  const shown: (readonly [string, ShownPage])[] = [
    ["index", { ...describeIndex(rendered), address: "/docs/" }],
    ...sources.map(({ path }) => [path, { ...pageAt(rendered, path), address: toAddress(path) }] as const),
  ];
  for (const [path, page] of shown) {
    await write(join(folder, `${path}.html`), layOut(page, options));
  }
  await write(join(folder, "search.json"), JSON.stringify(toSearchIndex(rendered)));
  await copyPictures(folder);
  await build({
    entryPoints: ["docs.ts", "docs.css"].map((name) => join("scripts/docs/pages/browser", name)),
    outdir: folder,
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    logLevel: "warning",
  });
}

/** @throws if a page of docs/ is neither served nor left out on purpose. */
async function requireAllPages(): Promise<void> {
  const files = (await readdir("docs", { recursive: true })).filter((name) => name.endsWith(".md"));
  const known = [...sources.map(({ file }) => file), ...unserved];
  const forgotten = files.map((name) => `docs/${name}`).filter((file) => !known.includes(file));
  if (forgotten.length > 0) {
    throw new Error(`Name these pages in scripts/docs/pages/navigation.ts: ${forgotten.join(", ")}`);
  }
}

/** The title of each page, by its file. */
async function readTitles(): Promise<ReadonlyMap<string, string>> {
  const titles = sources.map(async (source) => {
    const [, title = ""] = /^# (.+)$/m.exec(await read(source)) ?? [];
    return [source.file, title] as const;
  });
  return new Map(await Promise.all(titles));
}

async function read({ file, markdown }: PageSource): Promise<string> {
  return markdown ?? (await readFile(file, "utf8"));
}

async function render(source: PageSource, titles: ReadonlyMap<string, string>): Promise<RenderedPage> {
  const { file } = source;
  return renderPage(await read(source), {
    file,
    addressOf: findAddress,
    titleOf: (other) => titles.get(other) ?? other,
    without: file === "README.md" ? unservedSections : [],
  });
}

function findAddress(file: string): string | undefined {
  if (pictureFolders.some((name) => file.startsWith(`docs/${name}/`))) {
    return `/docs/${file.slice("docs/".length)}`;
  }
  const source = sources.find((one) => one.file === file);
  return source && toAddress(source.path);
}

function toAddress(path: string): string {
  return `/docs/${path}`;
}

function pageAt(rendered: ReadonlyMap<string, RenderedPage>, path: string): RenderedPage {
  const page = rendered.get(path);
  if (!page) {
    throw new Error(`There is no page ${path}`);
  }
  return page;
}

/** README.md has the name of the project as its title. */
function titleOf(rendered: ReadonlyMap<string, RenderedPage>, path: string): string {
  return path === "start" ? "Get started" : pageAt(rendered, path).title;
}

function describeIndex(
  rendered: ReadonlyMap<string, RenderedPage>,
): Pick<ShownPage, "title" | "html" | "passages"> {
  const item = ({ path }: PageSource) => {
    const title = escapeHtml(titleOf(rendered, path));
    const summary = escapeHtml(pageAt(rendered, path).summary);
    return `<li><a href="${toAddress(path)}">${title}</a><p>${summary}</p></li>`;
  };
  const lists = groups.map(
    ({ title, pages }) =>
      `<h2>${escapeHtml(title)}</h2>\n<ul class="cards">\n${pages.map(item).join("\n")}\n</ul>`,
  );
  const api =
    '<p>The <a href="/v1/openapi.json">OpenAPI document</a> of this service describes every operation.</p>';
  return {
    title: "Documentation",
    html: `<h1>Documentation</h1>\n${api}\n${lists.join("\n")}`,
    passages: [],
  };
}

/** The passages of all pages: `a`: address, `p`: title of the page, `h`: heading, `t`: text. */
function toSearchIndex(rendered: ReadonlyMap<string, RenderedPage>) {
  return sources.flatMap(({ path }) =>
    pageAt(rendered, path).passages.map(({ heading, anchor, text }) => ({
      a: anchor === "" ? toAddress(path) : `${toAddress(path)}#${anchor}`,
      p: titleOf(rendered, path),
      h: anchor === "" ? "" : heading,
      t: text,
    })),
  );
}

async function copyPictures(folder: string): Promise<void> {
  for (const name of pictureFolders) {
    await mkdir(join(folder, name), { recursive: true });
    for (const file of await readdir(join("docs", name))) {
      await copyFile(join("docs", name, file), join(folder, name, file));
    }
  }
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
