/** The sources of the repository, and the files that they import. */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface Source {
  readonly path: string;
  readonly text: string;
  /** The paths of the files that it imports. */
  readonly imports: readonly string[];
}

export async function readSources(...folders: string[]): Promise<Source[]> {
  const entriesByFolder = await Promise.all(folders.map((folder) => readdir(folder, { recursive: true })));
  const paths = entriesByFolder.flatMap((entries, index) =>
    entries.filter((entry) => /\.tsx?$/.test(entry)).map((entry) => join(folders[index] ?? "", entry)),
  );
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(path, "utf8");
      const specifiers = [...text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(
        ([, name = ""]) => name,
      );
      return { path, text, imports: specifiers.map((name) => join(dirname(path), name)) };
    }),
  );
}
