/**
 * Bundles a program of the tests, which then starts in a third of the time that the loader
 * of TypeScript needs.
 */
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { build } from "esbuild";
import { programPath } from "./process.ts";

export interface Bundle extends AsyncDisposable {
  readonly path: string;
}

export async function bundleProgram(source: string): Promise<Bundle> {
  // Beside the built program, whose worker of the embedded engine it finds there. Other workers build it too.
  const path = join(dirname(programPath), `${basename(source, ".ts")}-${process.pid}.js`);
  await build({
    entryPoints: [source],
    outfile: path,
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    target: "node20",
  });
  return { path, [Symbol.asyncDispose]: () => rm(path) };
}
