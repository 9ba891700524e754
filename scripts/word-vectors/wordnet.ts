/** Reads the database files of WordNet (https://wordnet.princeton.edu/documentation/wndb5wn). */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Synset {
  /** Part of speech and position in the file. */
  readonly id: string;
  /** In lower case; the words of a lemma are separated by spaces. */
  readonly members: readonly { readonly lemma: string; readonly sense: number }[];
  readonly links: readonly { readonly type: string; readonly to: string }[];
  readonly definition: string;
  readonly examples: string;
}

const parts = { noun: "n", verb: "v", adj: "a", adv: "r" } as const;

export async function readWordNet(folder: string): Promise<readonly Synset[]> {
  const senses = await readSenses(folder);
  const files = await Promise.all(
    Object.entries(parts).map(async ([name, part]) => {
      const text = await readFile(join(folder, `data.${name}`), "utf8");
      return text
        .split("\n")
        .filter((line) => /^\d/.test(line))
        .map((line) => readSynset(line, part, senses));
    }),
  );
  return files.flat();
}

function readSynset(line: string, part: string, senses: ReadonlyMap<string, number>): Synset {
  const [head = "", gloss = ""] = line.split(" | ");
  const fields = head.trim().split(" ");
  const id = part + fields[0];
  const wordCount = Number.parseInt(fields[3] ?? "", 16);
  const lemmas = Array.from({ length: wordCount }, (_, index) => toLemma(fields[4 + 2 * index] ?? ""));
  const first = 4 + 2 * wordCount;
  const linkCount = Number(fields[first]);
  const links = Array.from({ length: linkCount }, (_, index) => {
    const [type = "", offset = "", target = ""] = fields.slice(first + 1 + 4 * index);
    return { type, to: target.replace("s", "a") + offset };
  });
  const definition = gloss.split('; "')[0] ?? "";
  return {
    id,
    links,
    definition,
    members: lemmas.map((lemma) => ({ lemma, sense: senses.get(`${lemma} ${id}`) ?? 1 })),
    examples: gloss.slice(definition.length),
  };
}

/** Removes the mark of an adjective's position, such as `(p)`. */
function toLemma(word: string): string {
  return word
    .replace(/\([a-z]+\)$/, "")
    .replaceAll("_", " ")
    .toLowerCase();
}

/** The number of each sense of a lemma, 1 for the most frequent, by lemma and synset. */
async function readSenses(folder: string): Promise<ReadonlyMap<string, number>> {
  const text = await readFile(join(folder, "index.sense"), "utf8");
  const partOf: Readonly<Record<string, string>> = { 1: "n", 2: "v", 3: "a", 4: "r", 5: "a" };
  return new Map(
    text.split("\n").flatMap((line) => {
      const [key = "", offset = "", number = "1"] = line.trim().split(" ");
      const [lemma = "", rest = ""] = key.split("%");
      return offset === ""
        ? []
        : [[`${lemma.replaceAll("_", " ")} ${partOf[rest.slice(0, 1)]}${offset}`, Number(number)] as const];
    }),
  );
}
