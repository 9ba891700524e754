/**
 * Builds dist/: the command, which starts quickly, and the service, which it loads when it needs one.
 *
 * `tidings.js` and its chunks hold what a forwarding MCP server needs, packages and all, so that Node
 * reads few files before the first answer. The service stays beside it with its packages in node_modules:
 * PGlite looks for its data next to its own file. The database's thread is a file of its own.
 *
 * The command is written without white space and comments, which saves 1 MB at the start. Nothing else is
 * minified, and there are no source maps: a stack trace names functions as the source does.
 */
import { chmod, readFile, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import * as built from "../src/cli/built-tools.ts";
import * as listed from "../src/mcp/tools.ts";

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

/** Packages that are no ES modules call `require`, which an ES module does not have. */
const banner = `#!/usr/bin/env node
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);`;

/** Finished JSON, in place of a module that makes it from the catalogue. */
function embed(module: object): string {
  return Object.entries(module)
    .map(([name, value]) => `export const ${name} = JSON.parse(${JSON.stringify(JSON.stringify(value))});`)
    .join("\n");
}

/** What a forwarding server does without, and what it would cost at every start (of 45 ms for Node alone). */
const slimmed: readonly Replacement[] = [
  // 37 ms, 8 MB: Ajv, which checks what a user is asked for. Nothing is asked.
  {
    file: /@modelcontextprotocol\/server\/dist\/shimsNode\.mjs$/,
    contents: `
      export { default as process } from "node:process";
      export class DefaultJsonSchemaValidator {
        getValidator() { throw new Error("This build has no JSON Schema validator."); }
      }`,
  },
  // 30 ms, 10 MB: fetch, WebSocket, caches and mocks. The client uses these two; index.js adds their methods.
  {
    file: /\/undici\/index\.js$/,
    contents: `
      import api from "./lib/api/index.js";
      import Agent from "./lib/dispatcher/agent.js";
      import Dispatcher from "./lib/dispatcher/dispatcher.js";
      import EnvHttpProxyAgent from "./lib/dispatcher/env-http-proxy-agent.js";
      Object.assign(Dispatcher.prototype, api);
      export default { Agent, EnvHttpProxyAgent };`,
  },
  // 1 MB: HTTP/2, and node:http2 with it. undici speaks it only where `allowH2` is set.
  {
    file: /\/undici\/lib\/dispatcher\/client-h2\.js$/,
    contents: 'module.exports = () => { throw new Error("This build has no HTTP/2."); };',
  },
  // 3 ms, 2 MB: the schemas of OAuth, which nothing here checks. The letters are what it exports; the build
  // fails where they have changed.
  {
    file: /@modelcontextprotocol\/core\/dist\/auth-[\w-]+\.mjs$/,
    contents: `const none = undefined; export { ${[..."acdfilmnoprstu"].map((name) => `none as ${name}`)} };`,
  },
  // 5 ms, 1 MB: the languages of Zod's messages; English comes by itself.
  { file: /\/zod\/v4\/locales\/index\.js$/, contents: "export {};" },
];

const tools: Replacement = { file: /\/src\/mcp\/tools\.ts$/, contents: embed(listed) };
const builtTools: Replacement = { file: /\/src\/cli\/built-tools\.ts$/, contents: embed(built) };

await rm(outdir, { recursive: true, force: true });
await Promise.all([
  build({
    ...shared,
    entryPoints: { tidings: "src/cli/main.ts" },
    banner: { js: banner },
    minifyWhitespace: true,
    // Node shows the line of an error that nobody caught.
    lineLimit: 120,
    plugins: [replace([tools, builtTools, ...slimmed]), leaveService(), lighten()],
  }),
  build({ ...shared, entryPoints: service, packages: "external", plugins: [replace([tools])] }),
]);
await chmod(`${outdir}/tidings.js`, 0o755);

interface Replacement {
  readonly file: RegExp;
  readonly contents: string;
}

/** Reads other contents in place of a file's own; it is an error if there is no such file any more. */
function replace(replacements: readonly Replacement[]): Plugin {
  const unused = new Set(replacements);
  return {
    name: "replace",
    setup({ onLoad, onEnd }) {
      for (const replacement of replacements) {
        const { file, contents } = replacement;
        const filter = new RegExp(file.source.replaceAll("\\/", "[\\\\/]"));
        onLoad({ filter }, ({ path }) => {
          unused.delete(replacement);
          return { contents, loader: "js", resolveDir: dirname(path) };
        });
      }
      onEnd(() => ({ errors: [...unused].map(({ file }) => ({ text: `Nothing to replace: ${file}` })) }));
    },
  };
}

/** Leaves the service out of the command: imported statically, it would be loaded at every start. */
function leaveService(): Plugin {
  return {
    name: "leave-service",
    setup({ onResolve }) {
      onResolve({ filter: /\/(?:app|instance|serve)\.ts$/ }, ({ kind, path }) =>
        kind === "dynamic-import"
          ? { path: `./${basename(path, ".ts")}.js`, external: true }
          : { errors: [{ text: `Load ${path} by import(): it brings the whole service.` }] },
      );
    },
  };
}

/** Spells our own sources as they take the least memory. */
function lighten(): Plugin {
  return {
    name: "lighten",
    setup({ onLoad }) {
      onLoad({ filter: /[\\/](?:src|tools)[\\/].*\.ts$/ }, async ({ path }) => {
        const source = await readFile(path, "utf8");
        const contents = source
          // Imported so, all of Zod is kept; otherwise what is used of it: 2 MB less.
          .replace('import { z } from "zod";', 'import * as z from "zod";')
          // One character beyond Latin-1, and V8 keeps the whole file at two bytes a character.
          .replace(/[\u0100-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
        return { contents, loader: "ts" };
      });
    },
  };
}
