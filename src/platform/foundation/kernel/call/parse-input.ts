/** Parses the input of an operation, and checks that PostgreSQL can store it unchanged. */
import { type Operation, parseFields, requireKnownMembers } from "../../../../../tools/contract/index.ts";
import { requireStorable } from "../../../../../tools/storable.ts";

/**
 * @throws Failure `invalid_request`, with one entry per wrong field; `unknown_argument`, `unstorable_text`,
 * `nested_too_deeply`.
 */
export function parseInput({ input: schema }: Operation, input: unknown): unknown {
  const fields = parseFields(schema, input);
  requireKnownMembers(schema, input as Readonly<Record<string, unknown>>); // the schema is an object schema
  requireStorable(fields);
  return fields;
}
