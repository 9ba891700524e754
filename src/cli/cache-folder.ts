import { homedir } from "node:os";
import { join } from "node:path";

/**
 * The folder for what saves time at the next start. It is not in the temporary folder, where other users could
 * write files that this program would trust. @throws Error if the user has no home directory.
 */
export function cacheFolder(): string {
  return join(homedir(), ".cache", "tidings");
}
