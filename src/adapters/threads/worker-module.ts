/**
 * Finds the module of a worker thread: beside the service in `dist/`, or bundled for development and tests.
 */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const bundled = new Map<string, URL>();

/**
 * The module of a thread, by the URL of its source without the extension.
 *
 * In development and tests it is a single JavaScript module, because threads do not inherit the loaders of
 * tsx and vitest. The module is bundled once per process: starting a loader takes four times as long.
 */
export function workerModule(source: URL, importer: string): URL {
  if (!importer.endsWith(".ts")) {
    return new URL(`${source.href}.js`);
  }
  const known = bundled.get(source.href);
  if (known) {
    return known;
  }
  const made = bundle(new URL(`${source.href}.ts`));
  bundled.set(source.href, made);
  return made;
}

function bundle(source: URL): URL {
  const require = createRequire(import.meta.url);
  const { buildSync } = require("esbuild") as typeof import("esbuild"); // its own types
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(source)],
    bundle: true,
    format: "esm",
    platform: "node",
    write: false,
  });
  const code = Buffer.concat(outputFiles.map(({ contents }) => contents));
  return new URL(`data:text/javascript;base64,${code.toString("base64")}`);
}
