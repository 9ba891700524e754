/** Sends files to an app's upload route, and reads what it has stored. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { TestApp } from "./app.ts";
import { type FilePart, multipartForm } from "./files.ts";

/** The largest file that may be uploaded, in bytes. */
export const maxFileBytes = 33_554_432;

export interface UploadedFile {
  readonly id: string;
  readonly storage_url: string;
  readonly cdn_url?: string;
  readonly file_name: string;
  readonly file_size: number;
  readonly content_type: string;
}

export function createUploadHelpers(app: TestApp) {
  async function send(body: FormData, init: { headers?: Record<string, string>; key?: string } = {}) {
    const answer = await app.fetch("/v1/uploads", { method: "POST", body, ...init });
    const { data, error } = (await answer.json()) as {
      data: UploadedFile;
      error: { code: string; message: string };
    };
    return { status: answer.status, headers: answer.headers, data, error };
  }

  return {
    send,
    upload: async (part: FilePart) => (await send(multipartForm(part))).data,
    /** The paths of all stored files, including incomplete ones. */
    async listFiles(): Promise<string[]> {
      const folder = join(app.dataDir, "files");
      if (!existsSync(folder)) {
        return []; // it is created with the first file
      }
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    },
    listRows: () => app.server.database.queries.selectFrom("uploads").selectAll().execute(),
  };
}
