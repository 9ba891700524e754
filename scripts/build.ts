/**
 * Builds dist/: the command, which starts quickly, and the service, which the command loads when needed.
 *
 * `tidings.js` and its chunks contain everything for a forwarding MCP server, packages included, so that Node
 * reads few files before the first answer. The service is separate. It contains its packages too, except
 * packages that `external` lists. The worker threads of the database, of the reader of documents, of the
 * scaler of images and of the matcher of regular expressions are separate files, and so is the archive of an
 * empty database, from which new databases are made. The table of countries by IP address and the word
 * vectors of the built-in embedder are copied with their licences. `docs/` has the documentation as HTML, and
 * `console/` the page for people.
 *
 * Only white space and comments are removed, and there are no source maps: stack traces have the function
 * names of the source. The emulator of the WhatsApp Cloud API is a program of its own, and `client.js` is
 * what the package exports.
 */
import { chmod, copyFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, resolve } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { buildConsole } from "../console/build/index.ts";
import * as built from "../src/cli/embedded-tools.ts";
import * as guides from "../src/mcp/skills/definitions.ts";
import * as listed from "../src/mcp/tool-list/definitions.ts";
import { archiveDatabase } from "./archive-database.ts";
import { buildPages } from "./docs/pages/index.ts";

/** Tests build into a separate folder, so that they do not overwrite a service that runs from `dist`. */
const outdir = process.env.BUILD_DIR ?? "dist";

/** Entry points that the command loads only by `import()`. */
const service = [
  "src/cli/serve/serve.ts",
  "src/cli/manage/backup/backup.ts",
  "src/cli/doctor/doctor.ts",
  "src/cli/data-folder/instance.ts",
  "src/database/embedded/embedded-worker.ts",
  "src/adapters/documents/reader-worker.ts",
  "src/adapters/images/scaler-worker.ts",
  "src/adapters/patterns/matcher-worker.ts",
];

/**
 * Modules with constant values that are slow to compute, because they load the catalogue and the service, or
 * that read files of the repository.
 */
const embedded = new Map<string, object>([
  [resolve("src/mcp/tool-list/definitions.ts"), listed],
  [resolve("src/mcp/skills/definitions.ts"), guides],
  [resolve("src/cli/embedded-tools.ts"), built],
]);

/** Packages that the service loads from node_modules. */
const external = [
  // These packages look for files next to their own files.
  "@electric-sql/pglite",
  "@node-rs/argon2",
  // These packages are loaded only with certain settings.
  "prom-client",
  "@opentelemetry/*",
  // `pg` tries to load this package, which is not installed.
  "pg-native",
];

const shared = {
  outdir,
  // All entry points are in one folder: chunks import the service and the worker as `./name.js`.
  entryNames: "[name]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minifyWhitespace: true,
  // Lines are short, because Node prints the whole line of an uncaught error.
  lineLimit: 120,
  logLevel: "warning",
} satisfies BuildOptions;

/** CommonJS packages call `require`, which does not exist in an ES module. */
const requireBanner = `import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);`;

await rm(outdir, { recursive: true, force: true });
await Promise.all([
  build({
    ...shared,
    entryPoints: { tidings: "src/cli/tidings.ts" },
    banner: { js: `#!/usr/bin/env node\n${requireBanner}` },
    plugins: [embedValues(), excludeService()],
  }),
  build({
    ...shared,
    entryPoints: service,
    banner: { js: requireBanner },
    external,
    plugins: [embedValues()],
  }),
  build({
    ...shared,
    entryPoints: { client: "src/client/package.ts" },
    splitting: false,
    packages: "external",
  }),
  build({
    ...shared,
    entryPoints: ["src/cli/emulator/whatsapp-emulator.ts"],
    banner: { js: requireBanner },
  }),
]);
await chmod(`${outdir}/tidings.js`, 0o755);
await Promise.all([
  archiveDatabase(outdir),
  copyCountries(),
  copyWordVectors(),
  copyLicences(),
  buildPages(`${outdir}/docs`),
  buildConsole(resolve(outdir, "console")),
]);

/**
 * The table of countries by IP address. Its package contains the same data two more times, in parts, so it is
 * not a dependency of the service.
 */
async function copyCountries(): Promise<void> {
  const find = createRequire(import.meta.url).resolve;
  const data = "@ip-location-db/geo-whois-asn-country-mmdb";
  await copyFile(find(`${data}/geo-whois-asn-country.mmdb`), `${outdir}/countries.mmdb`);
}

/** Copies the file to the folder of the service, where the embedder looks for it. */
async function copyWordVectors(): Promise<void> {
  await copyFile("src/adapters/models/english/word-vectors.bin", `${outdir}/word-vectors.bin`);
}

async function copyLicences(): Promise<void> {
  await copyFile("licenses/THIRD-PARTY.md", `${outdir}/THIRD-PARTY.md`);
  await copyFile("licenses/apache-2.0.txt", `${outdir}/apache-2.0.txt`);
}

/** Bundles the values of the embedded modules as JSON instead of their code. */
function embedValues(): Plugin {
  return {
    name: "embed-values",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const values = embedded.get(path);
        return values && { contents: JSON.stringify(values), loader: "json" };
      });
    },
  };
}

/** Keeps the service and the emulator out of the command: a static import would load them at every start. */
function excludeService(): Plugin {
  return {
    name: "exclude-service",
    setup({ onResolve }) {
      onResolve(
        { filter: /\/(?:app|backup|doctor|instance|serve|whatsapp-emulator)\.ts$/ },
        ({ kind, path }) =>
          kind === "dynamic-import"
            ? { path: `./${basename(path, ".ts")}.js`, external: true }
            : { errors: [{ text: `Load ${path} by import(): it is large, and few commands need it.` }] },
      );
    },
  };
}
