/**
 * Reads the arguments of tools, and query strings.
 *
 * A tool's input is strict at every depth: an unknown argument is an error that lists the known arguments.
 * Values are read liberally where that is harmless: `null` for an absent option, a number or an object sent
 * as text, an enum value in another case. MCP and POST /v1/mcp/tools/call read them in the same way.
 */
import { parseFields } from "../failure.ts";
import type { ToolMapping } from "../operation.ts";
import { coerceFields } from "./coerce.ts";
import { requireKnownArguments, requireKnownMembers } from "./unknown-members.ts";

export { coerceFields } from "./coerce.ts";
export { nearestName } from "./nearest.ts";
export {
  describeUnknownFields,
  requireKnownArguments,
  requireKnownMembers,
} from "./unknown-members.ts";

/**
 * Reads a tool's arguments into its operation's input.
 * @throws Failure `invalid_request`, or `unknown_argument` with the known arguments.
 */
export function readArguments(
  mapping: ToolMapping,
  sent: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  requireKnownArguments(mapping.input, sent);
  const coerced = coerceFields(mapping.input, sent);
  const fields = parseFields(mapping.input, coerced);
  requireKnownMembers(mapping.input, coerced);
  return placeFields(mapping, fields);
}

/** Moves a tool's fields to where its route expects them. */
function placeFields(
  mapping: ToolMapping,
  fields: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const input: Record<string, unknown> = { ...mapping.fixed };
  for (const [name, value] of Object.entries(fields)) {
    const [outer = name, inner] = (mapping.place?.[name] ?? name).split(".");
    if (value !== undefined) {
      input[outer] =
        inner === undefined ? value : { ...(input[outer] as object | undefined), [inner]: value };
    }
  }
  return input;
}
