/**
 * Builds dist/: the command, which starts quickly, and the service, which it loads when it needs one.
 *
 * `tidings.js` and its chunks hold what a forwarding MCP server needs, packages and all, so that Node
 * reads few files before the first answer. The service stays beside it with its packages in node_modules:
 * PGlite looks for its data next to its own file. The database's thread is a file of its own.
 */
import { chmod, rm } from "node:fs/promises";
import { basename } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import * as listed from "../src/mcp/tools.ts";

const outdir = "dist";

/** What the command loads by `import()` only, as files of their own. */
const service = ["src/commands/serve.ts", "src/instance.ts", "src/database/embedded-worker.ts"];

/** Packages that are no ES modules call `require`, which an ES module does not have. */
const requirePolyfill = [
  'import { createRequire as __createRequire } from "node:module";',
  "const require = __createRequire(import.meta.url);",
].join("\n");

const shared: BuildOptions = {
  outdir,
  bundle: true,
  format: "esm",
  splitting: true,
  platform: "node",
  target: "node20",
  logLevel: "warning",
};

await rm(outdir, { recursive: true, force: true });
await Promise.all([
  build({
    ...shared,
    entryPoints: { tidings: "src/main.ts" },
    banner: { js: `#!/usr/bin/env node\n${requirePolyfill}` },
    plugins: [embedTools(), leaveService()],
  }),
  build({
    ...shared,
    entryPoints: service,
    entryNames: "[name]",
    packages: "external",
    plugins: [embedTools()],
  }),
]);
await chmod(`${outdir}/tidings.js`, 0o755);

/** Puts the tools' finished JSON in place of the module that makes it from the catalogue. */
function embedTools(): Plugin {
  const contents = Object.entries(listed)
    .map(([name, value]) => `export const ${name} = JSON.parse(${JSON.stringify(JSON.stringify(value))});`)
    .join("\n");
  return {
    name: "embed-tools",
    setup({ onLoad }) {
      onLoad({ filter: /src[\\/]mcp[\\/]tools\.ts$/ }, () => ({ contents, loader: "js" }));
    },
  };
}

/** Leaves the service out of the command: a static import of it would be loaded at every start. */
function leaveService(): Plugin {
  return {
    name: "leave-service",
    setup({ onResolve }) {
      onResolve({ filter: /\/(?:serve|instance)\.ts$/ }, ({ kind, path }) =>
        kind === "dynamic-import"
          ? { path: `./${basename(path, ".ts")}.js`, external: true }
          : { errors: [{ text: `Load ${path} by import(): it brings the whole service.` }] },
      );
    },
  };
}
