/**
 * Finds the targets of a plan that differ from the others, which a person should see first.
 *
 * A value that a target has in common with less than a twentieth of the targets is rare. The properties are
 * those by which a wrong value shows: whether the person gets a message, the start of the number, the length
 * of the name and of the text in steps of a factor of two, and the kinds of characters.
 */
const rareShare = 1 / 20;

interface Shown {
  readonly to: string | null;
  readonly name: string | null;
  readonly text: string;
  readonly reason: string | null;
}

const properties: readonly ((target: Shown) => string)[] = [
  ({ reason }) => reason ?? "",
  ({ to }) => to?.slice(0, 3) ?? "",
  ({ name }) => sizeOf(name ?? ""),
  ({ name }) => kindsIn(name ?? ""),
  ({ text }) => sizeOf(text),
  ({ text }) => kindsIn(text),
];

/** For each property, how many targets have which value. */
export type ValueCounts = readonly Readonly<Record<string, number>>[];

/** The counts of further targets together with those that were counted before. */
export function addValues(targets: readonly Shown[], before: ValueCounts = []): ValueCounts {
  return properties.map((property, index) => {
    const counts = new Map(Object.entries(before[index] ?? {}));
    for (const target of targets) {
      const value = property(target);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return Object.fromEntries(counts);
  });
}

/** The number of rare properties of a target, among `total` targets with these values. */
export function countUnusual(target: Shown, values: ValueCounts, total: number): number {
  const isRare = (property: (target: Shown) => string, index: number) =>
    (values[index]?.[property(target)] ?? 0) < total * rareShare;
  return properties.filter(isRare).length;
}

function sizeOf(text: string): string {
  return String(text.length === 0 ? -1 : Math.floor(Math.log2(text.length)));
}

const kinds = [/\p{L}/u, /\p{N}/u, /https?:|www\./i, /[{}<>\\|]/, /[^\x20-\x7e\p{L}\p{M}\s]/u];

function kindsIn(text: string): string {
  return kinds.map((kind) => (kind.test(text) ? "1" : "0")).join("");
}
