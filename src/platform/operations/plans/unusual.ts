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

/** The number of rare properties of each target, in the order of the targets. */
export function countUnusual(targets: readonly Shown[]): readonly number[] {
  const limit = targets.length * rareShare;
  const perProperty = properties.map((property) => {
    const values = targets.map(property);
    const counts = new Map<string, number>();
    for (const value of values) {
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return values.map((value) => (counts.get(value) ?? 0) < limit);
  });
  return targets.map((_, index) => perProperty.filter((isRare) => isRare[index]).length);
}

function sizeOf(text: string): string {
  return String(text.length === 0 ? -1 : Math.floor(Math.log2(text.length)));
}

const kinds = [/\p{L}/u, /\p{N}/u, /https?:|www\./i, /[{}<>\\|]/, /[^\x20-\x7e\p{L}\p{M}\s]/u];

function kindsIn(text: string): string {
  return kinds.map((kind) => (kind.test(text) ? "1" : "0")).join("");
}
