/** A home folder as a reader of the guides has it: the service's data, `tidings`, and some files. */
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export interface Home extends AsyncDisposable {
  /** Where the guides run their commands. */
  readonly checkout: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const pdf =
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";

export async function createHome(): Promise<Home> {
  const home = await mkdtemp(join(tmpdir(), "tidings-guides-"));
  const checkout = join(home, "checkout");
  const bin = join(home, "bin");
  await Promise.all([mkdir(checkout), mkdir(bin)]);
  await symlink(resolve("dist"), join(checkout, "dist"));
  await writeFile(join(checkout, "photo.png"), Buffer.from(png, "base64"));
  await writeFile(join(checkout, "menu.pdf"), pdf);
  await writeFile(join(home, ".curlrc"), "silent\nshow-error\n");
  await writeFile(join(bin, "tidings"), `#!/bin/sh\nexec node "${resolve("dist/tidings.js")}" "$@"\n`);
  await chmod(join(bin, "tidings"), 0o755);
  return {
    checkout,
    env: { ...withoutSettings(process.env), HOME: home, PATH: `${bin}:${process.env.PATH}` },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => name !== "DATABASE_URL" && !name.startsWith("TIDINGS_")),
  );
}
