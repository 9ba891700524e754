/** A bucket on this machine that speaks S3. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Bucket extends AsyncDisposable {
  /** The settings that select it. */
  readonly env: Readonly<Record<string, string>>;
  /** The file names of its objects. */
  objects(): Promise<string[]>;
}

interface Emulator {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}

// The package has no types; these are what its README says.
const S3rver = createRequire(import.meta.url)("s3rver") as new (options: object) => Emulator;

export async function openBucket(): Promise<Bucket> {
  const directory = await mkdtemp(join(tmpdir(), "tidings-bucket-"));
  const configureBuckets = [{ name: "files", configs: [] }];
  const emulator = new S3rver({ port: 0, silent: true, directory, configureBuckets });
  const { port } = await emulator.run();
  return {
    env: {
      TIDINGS_S3_ENDPOINT: `http://127.0.0.1:${port}/`,
      TIDINGS_S3_BUCKET: "files",
      TIDINGS_S3_ACCESS_KEY_ID: "S3RVER",
      TIDINGS_S3_SECRET_ACCESS_KEY: "S3RVER",
    },
    async objects() {
      const names = await readdir(directory, { recursive: true });
      return names.filter((name) => name.endsWith("_object"));
    },
    async [Symbol.asyncDispose]() {
      await emulator.close();
      await rm(directory, { recursive: true });
    },
  };
}
