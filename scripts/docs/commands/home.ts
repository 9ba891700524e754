/** A home folder as a reader of the guides has it: the service's data, `tidings`, and some files. */
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export interface Home extends AsyncDisposable {
  /** Where the guides run their commands. */
  readonly checkout: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const pdf = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>endobj
4 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
5 0 obj<</Length 34>>stream
BT /F 12 Tf 20 50 Td (Soup) Tj ET

endstream
endobj
trailer<</Root 1 0 R>>
%%EOF
`;

export async function createHome(): Promise<Home> {
  const home = await mkdtemp(join(tmpdir(), "tidings-guides-"));
  const checkout = join(home, "checkout");
  const bin = join(home, "bin");
  await Promise.all([mkdir(checkout), mkdir(bin)]);
  await symlink(resolve("dist"), join(checkout, "dist"));
  // A copy, because a guide changes its files.
  await cp("deploy", join(checkout, "deploy"), { recursive: true });
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
