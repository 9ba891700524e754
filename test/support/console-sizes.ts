/** The compressed sizes of a built console, in its folder: of each file, and of what each page loads. */
import { readdir, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

/** In bytes. */
interface PageSize {
  /** The file of the page's own code. */
  readonly page: string;
  /** Its own code and style. */
  readonly own: number;
  /** With the frame of all pages and everything that both import. */
  readonly firstLoad: number;
}

const addressOf = (folder: URL, file = "") => new URL(`assets/${file}`, folder);

/** The size of each script and style, in bytes. */
export async function readFileSizes(folder: URL): Promise<ReadonlyMap<string, number>> {
  const files = (await readdir(addressOf(folder))).filter((file) => /\.(?:js|css)$/.test(file));
  return new Map(
    await Promise.all(
      files.map(async (file) => [file, gzipSync(await readFile(addressOf(folder, file))).length] as const),
    ),
  );
}

export async function readPageSizes(folder: URL): Promise<readonly PageSize[]> {
  const sizes = await readFileSizes(folder);
  const chunks = [...sizes.keys()].filter((file) => file.endsWith(".js"));
  const frame = await withImports(folder, chunks.find((file) => file.startsWith("index-")) ?? "");
  const pages = chunks.filter((file) => /^(?:\w+-page|settings-\w+)-/.test(file));
  return Promise.all(
    pages.map(async (page) => ({
      page,
      own: sumOf(sizes, [page]),
      firstLoad: sumOf(sizes, [...frame, ...(await withImports(folder, page))]),
    })),
  );
}

/** A chunk, and those that it imports before it runs. */
async function withImports(
  folder: URL,
  chunk: string,
  found: ReadonlySet<string> = new Set(),
): Promise<ReadonlySet<string>> {
  const text = await readFile(addressOf(folder, chunk), "utf8");
  const imported = [...text.matchAll(/(?:from|import)\s*["'`]\.\/([\w.-]+\.js)["'`]/g)].map(
    ([, name = ""]) => name,
  );
  let all = new Set([...found, chunk]);
  for (const name of imported.filter((one) => !all.has(one))) {
    all = new Set([...all, ...(await withImports(folder, name, all))]);
  }
  return all;
}

/** Of the chunks and their styles. */
function sumOf(sizes: ReadonlyMap<string, number>, chunks: readonly string[]): number {
  const stems = new Set(chunks.map((name) => name.replace(/-[\w-]{8}\.js$/, "")));
  return [...sizes]
    .filter(([file]) => stems.has(file.replace(/-[\w-]{8}\.(?:js|css)$/, "")))
    .reduce((sum, [, size]) => sum + size, 0);
}
