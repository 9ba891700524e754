/**
 * Builds dist/: the command, which starts quickly, and the service, which the command loads when it needs one.
 *
 * `tidings.js` and its chunks hold what a forwarding MCP server needs, packages included, so that Node
 * reads few files before the first answer. The service stays beside it with its packages in node_modules:
 * PGlite looks for its data next to its own file. The database's thread is a file of its own.
 *
 * Only white space and comments are removed, and there are no source maps: a stack trace names functions
 * as the source does.
 */
import { chmod, rm } from "node:fs/promises";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";

/** The tests build into a folder of their own, so that a service that runs from `dist` is left alone. */
const outdir = process.env.BUILD_DIR ?? "dist";

/** What the command loads by `import()` alone. */
const service = ["src/cli/serve.ts", "src/cli/instance.ts", "src/database/embedded-worker.ts"];

const shared = {
  outdir,
  // All in one folder: a chunk finds the service and the thread as `./name.js`.
  entryNames: "[name]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  logLevel: "warning",
} satisfies BuildOptions;

/** CommonJS packages call `require`, which an ES module does not have. */
const banner = `#!/usr/bin/env node
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);`;

await rm(outdir, { recursive: true, force: true });
await Promise.all([
  build({
    ...shared,
    entryPoints: { tidings: "src/cli/main.ts" },
    banner: { js: banner },
    minifyWhitespace: true,
    // Node prints the line of an uncaught error.
    lineLimit: 120,
    plugins: [embedValues(), excludeService()],
  }),
  build({ ...shared, entryPoints: service, packages: "external", plugins: [embedValues()] }),
]);
await chmod(`${outdir}/tidings.js`, 0o755);

/** Bundles the values of two modules as JSON in place of their code, which loads the catalogue and the service. */
function embedValues(): Plugin {
  return {
    name: "embed-values",
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]src[\\/](?:mcp[\\/]tools|cli[\\/]built-tools)\.ts$/ }, async ({ path }) => ({
        contents: JSON.stringify(await import(pathToFileURL(path).href)),
        loader: "json",
      }));
    },
  };
}

/** Leaves the service out of the command: imported statically, it would be loaded at every start. */
function excludeService(): Plugin {
  return {
    name: "exclude-service",
    setup({ onResolve }) {
      onResolve({ filter: /\/(?:app|instance|serve)\.ts$/ }, ({ kind, path }) =>
        kind === "dynamic-import"
          ? { path: `./${basename(path, ".ts")}.js`, external: true }
          : { errors: [{ text: `Load ${path} by import(): it brings the whole service.` }] },
      );
    },
  };
}
