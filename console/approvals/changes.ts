/** What is different between the plan that a person has read and the plan that it is now. */
import { texts } from "../texts.ts";
import type { Plan } from "./plan-list.ts";

interface Change {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

const { changes, money, nothing } = texts.approvals;

const readers: Readonly<Record<keyof typeof changes, (plan: Plan) => string>> = {
  summary: ({ summary }) => summary,
  recipient_count: ({ recipient_count }) => String(recipient_count),
  excluded_count: ({ excluded_count }) => String(excluded_count),
  price: ({ price }) => (price === null ? nothing : money(price)),
  warnings: ({ warnings }) => warnings.join("\n") || nothing,
  samples: ({ samples }) =>
    samples.map(({ name, to, text }) => `${name ?? to}: ${text}`).join("\n") || nothing,
  input: ({ input }) => JSON.stringify(input, null, 2),
};

export function findChanges(before: Plan, after: Plan): Change[] {
  return Object.entries(readers)
    .map(([name, read]) => ({
      // The keys of a literal.
      name: changes[name as keyof typeof changes],
      before: read(before),
      after: read(after),
    }))
    .filter((change) => change.before !== change.after);
}
