/** Lets Node keep what V8 has compiled, for the next start: an eighth of its CPU time (Node 22.8 and later). */
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

/** Where nothing can be kept, nothing is, and nothing is said. */
export function keepCompiled(): void {
  // Newer than the types, which are those of the oldest Node that this runs on.
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown };
  try {
    // Not in the temporary folder, which is Node's choice: whoever can write there decides what runs here.
    enableCompileCache?.(join(homedir(), ".cache", "tidings"));
  } catch {
    // A user without a home.
  }
}
