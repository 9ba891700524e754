/** Builds the console: hashed files, an index.html that names them, and compressed copies of both. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import { build } from "vite";
import { operationTable } from "./operation-table.ts";

/** @param outDir an absolute path; what is in the folder is removed. */
export async function buildConsole(outDir: string): Promise<void> {
  await build({
    configFile: false,
    root: fileURLToPath(new URL("..", import.meta.url)),
    base: "/console/",
    plugins: [operationTable()],
    logLevel: "warn",
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      // The content security policy of the pages allows no `data:` styles or images.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: { checks: { bundlerTimings: false } },
    },
  });
  await compress(outDir);
}

/** Browsers accept Brotli from https and loopback addresses alone, so there is a copy in each form. */
async function compress(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true });
  const texts = files.filter((file) => /\.(js|css|html|svg|webmanifest)$/.test(file));
  await Promise.all(
    texts.map(async (file) => {
      const path = join(folder, file);
      const content = await readFile(path);
      await writeFile(`${path}.br`, await promisify(brotliCompress)(content));
      await writeFile(`${path}.gz`, await promisify(gzip)(content));
    }),
  );
}
