/**
 * Reads a set of documents and questions: the set for measurements, or the set with which the rules are
 * calibrated.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const folders = {
  evaluation: join(import.meta.dirname, "../../retrieval-set"),
  development: join(import.meta.dirname, "../../retrieval-set-development"),
} as const;
export type SetName = keyof typeof folders;

export const kinds = ["close", "paraphrase", "specific", "qa", "unanswerable"] as const;
export type Kind = (typeof kinds)[number];

const Questions = z.array(
  z.object({
    id: z.string(),
    question: z.string(),
    kind: z.enum(kinds),
    /** A result from any of these places is right. */
    answers: z.array(
      z.union([
        z.object({ document: z.string(), contains: z.array(z.string()) }),
        z.object({ qa: z.string() }),
      ]),
    ),
    /** Regular expressions. A right answer matches one of them. */
    expected: z.array(z.string()),
  }),
);
export type Question = z.infer<typeof Questions>[number];

const Pairs = z.array(
  z.object({ id: z.string(), question: z.string(), answer: z.string(), tags: z.array(z.string()) }),
);

export interface SetDocument {
  readonly name: string;
  readonly text: string;
}

export async function readSet(name: SetName) {
  const folder = folders[name];
  const read = async (file: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, file), "utf8"));
  const files = (await readdir(join(folder, "documents"))).sort();
  const documents = files.map(async (file): Promise<SetDocument> => {
    return { name: file, text: await readFile(join(folder, "documents", file), "utf8") };
  });
  return {
    documents: await Promise.all(documents),
    pairs: Pairs.parse(await read("qa-pairs.json")),
    questions: Questions.parse(await read("questions.json")),
  };
}

export type QuestionSet = Awaited<ReturnType<typeof readSet>>;
