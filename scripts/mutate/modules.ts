/**
 * The modules with their sources: the modules in the domains of src/platform, the entries of src/adapters,
 * further folders of src, and the emulator.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { SourceFile } from "./find/index.ts";

const whole = ["jobs", "database", "http", "mcp", "client", "config", "emulator", "streams", "time"];

/** Landed migrations never change, and the other excluded files have only types. */
const excluded =
  /^(?:src\/(?:database\/(?:migrations|schema)\/|adapters\/channel\/whatsapp\/contract\.ts$)|emulator\/test\/)/;

/** Keyed by the name of the module, such as `platform/inbox/contacts` or `jobs`. */
export function readModules(root: string): Map<string, SourceFile[]> {
  const entriesOf = (folder: string) =>
    readdirSync(join(root, "src", folder)).map((entry) => `${folder}/${entry}`);
  const modulesOf = (entry: string) => (entry.endsWith(".ts") ? [entry] : entriesOf(entry));
  const entries = [...entriesOf("platform").flatMap(modulesOf), ...entriesOf("adapters")];
  return new Map(
    [...entries, ...whole].map((entry) => {
      const module = entry.replace(/\.ts$/, "");
      return [
        module,
        listSources(root, entry === "emulator" ? entry : join("src", entry)).map((file) =>
          readSource(root, module, file),
        ),
      ];
    }),
  );
}

function listSources(root: string, path: string): string[] {
  const files = statSync(join(root, path)).isDirectory()
    ? readdirSync(join(root, path), { recursive: true, encoding: "utf8" }).map((name) => join(path, name))
    : [path];
  return files.filter((file) => file.endsWith(".ts") && !excluded.test(file)).sort();
}

function readSource(root: string, module: string, file: string): SourceFile {
  return { file, module, text: readFileSync(join(root, file), "utf8") };
}
