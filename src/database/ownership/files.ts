/** Atomic writes of small files, readable by their user only. */
import { randomUUID } from "node:crypto";
import { link, rename, rm, writeFile } from "node:fs/promises";

/** Creates a file with its complete content in one step. @returns false if the file exists. */
export async function createFile(file: string, content: string): Promise<boolean> {
  const draft = await writeDraft(file, content);
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (errorCode(error) !== "EEXIST") {
      throw error;
    }
    return false;
  } finally {
    await rm(draft, { force: true });
  }
}

export async function replaceFile(file: string, content: string): Promise<void> {
  await rename(await writeDraft(file, content), file);
}

async function writeDraft(file: string, content: string): Promise<string> {
  const draft = `${file}.${randomUUID()}.draft`;
  await writeFile(draft, content, { mode: 0o600, flag: "wx" });
  return draft;
}

/** The code of a system error, such as `ENOENT`. */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
