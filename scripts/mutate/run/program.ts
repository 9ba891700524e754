/** Determines whether tests need the built program, because building it takes longer than most tests. */
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "vite";
import { programPath } from "../../../test/support/process.ts";

const support = "test/support/process.ts";

/** Makes test/support/global-setup.ts build the program anew for these files, or not at all. */
export function prepareProgram(tree: string, files: readonly string[]): void {
  const program = join(tree, programPath);
  rmSync(program, { force: true });
  if (files.some((file) => isImported(tree, file, support))) {
    return;
  }
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, "");
  // A time newer than every source, whatever the mutation changes.
  const later = Date.now() / 1_000 + 86_400;
  utimesSync(program, later, later);
}

/** The folders of tests and of the files that tests import. */
const testFolders = /^(?:emulator\/)?test\//;

/** Whether a test file imports another file of these folders, directly or not. */
function isImported(tree: string, file: string, wanted: string, seen: Set<string> = new Set()): boolean {
  if (file === wanted) {
    return true;
  }
  if (seen.has(file) || !testFolders.test(file) || !existsSync(join(tree, file))) {
    return false;
  }
  seen.add(file);
  const { staticImports } = parseSync(file, readFileSync(join(tree, file), "utf8")).module;
  return staticImports
    .map(({ moduleRequest }) => moduleRequest.value)
    .filter((name) => name.startsWith("."))
    .some((name) => isImported(tree, join(dirname(file), name), wanted, seen));
}
