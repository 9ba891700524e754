/**
 * Leaves out the fields of an answer that are null, because a model pays for each of them. What the schema
 * does not name, such as a contact's attributes, stays as it is: a null there is a value.
 */
import type { ListedTool } from "../tool-list/index.ts";

export function leaveOutNulls({ open }: Pick<ListedTool, "open">, answer: object): object {
  const { data, ...rest }: { data?: unknown } = answer;
  return data === undefined ? answer : { data: withoutNulls(data, new Set(open), "data"), ...rest };
}

function withoutNulls(value: unknown, open: ReadonlySet<string>, path: string): unknown {
  if (typeof value !== "object" || value === null || open.has(path)) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((item) => withoutNulls(item, open, `${path}[]`));
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === null ? [] : [[name, withoutNulls(member, open, `${path}.${name}`)]],
    ),
  );
}
