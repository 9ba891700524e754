/** A copy of the working tree, so that the user's files are never mutated. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Copy extends Disposable {
  /** The copied tree. */
  readonly tree: string;
  /** A folder for temporary files of the tests, including tests that are killed. */
  readonly temporary: string;
  /** The same files have the same hash. */
  readonly hash: string;
}

/** Copies the tracked and the new files in their present state, and links the installed packages. */
export function copyTree(root: string): Copy {
  const folder = mkdtempSync(join(tmpdir(), "mutate-"));
  const tree = join(folder, "tree");
  const temporary = join(folder, "tmp");
  mkdirSync(temporary);
  const hash = createHash("sha256");
  for (const file of listFiles(root)) {
    hash.update(`${file}\0`).update(readFileSync(join(root, file)));
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    cpSync(join(root, file), join(tree, file), { preserveTimestamps: true });
  }
  linkPackages(join(root, "node_modules"), join(tree, "node_modules"));
  return {
    tree,
    temporary,
    hash: hash.digest("hex"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function listFiles(root: string): string[] {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const output = execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  return output.split("\0").filter((file) => file !== "" && existsSync(join(root, file)));
}

/** The folder itself is not linked, because its .cache has the program that the tests build. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name !== ".cache" && !name.startsWith(".vite")) {
      symlinkSync(join(from, name), join(to, name));
    }
  }
}
