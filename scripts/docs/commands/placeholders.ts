/**
 * Fills the placeholders of commands with values of earlier answers, as a reader does: `coh_…` with the id
 * of a cohort, and `<storage_url>` with the value of the member with this name.
 *
 * It takes the latest answer that has one, and its first: of a list, the newest entry.
 */
export interface Placeholders {
  fill: (text: string) => string;
  learn: (answer: string) => void;
}

const idPattern = /\b([a-z_]+_)[0-9a-z]{26}\b/g;
const memberPattern = /"(\w+)": ?"((?:[^"\\]|\\.)*)"/g;

export function createPlaceholders(known: Readonly<Record<string, string>>): Placeholders {
  const values = new Map(Object.entries(known));
  return {
    fill: (text) =>
      text
        .replace(/\b([a-z_]+_)…/g, (found, prefix) => values.get(prefix) ?? found)
        .replace(/<(\w+)>/g, (found, name) => values.get(name) ?? found),
    learn(answer) {
      const ids = Array.from(answer.matchAll(idPattern), ([id, prefix = ""]) => [prefix, id] as const);
      const members = Array.from(
        answer.matchAll(memberPattern),
        ([, name = "", value = ""]) => [name, value] as const,
      );
      for (const [name, value] of [...members, ...ids].toReversed()) {
        values.set(name, value);
      }
    },
  };
}
