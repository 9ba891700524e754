/**
 * Reads the arguments of tools, and query strings.
 *
 * A tool's input is strict at every depth: an unknown argument is an error that lists the known arguments.
 * Values are read liberally where that is harmless: `null` for an absent option, a number or an object sent
 * as text, an enum value in another case. MCP and POST /v1/mcp/tools/call read them in the same way.
 */
import { z } from "zod";
import { failInput } from "../failure.ts";
import { inputMessages } from "../issues.ts";
import { parseJson } from "../json.ts";
import { unwrap } from "../json-schema.ts";
import type { ToolMapping } from "../operation.ts";
import { requireKnownArguments, requireKnownMembers } from "./unknown-members.ts";

export { nearestName } from "./nearest.ts";
export { describeUnknownFields, requireKnownMembers } from "./unknown-members.ts";

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
  const parsed = mapping.input.safeParse(coerced, { error: inputMessages });
  if (!parsed.success) {
    throw failInput(parsed.error.issues, coerced);
  }
  requireKnownMembers(mapping.input, coerced);
  return placeFields(mapping, parsed.data);
}

/** Converts each field to the type in its schema; also turns a query string into numbers and booleans. */
export function coerceFields(
  schema: z.ZodObject,
  sent: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const coerced: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    const value = sent[name];
    const isAbsent = value === undefined || (value === null && field.safeParse(undefined).success);
    if (!isAbsent) {
      coerced[name] = typeof value === "string" ? coerceText(field, value) : coerceNumber(field, value);
    }
  }
  return coerced;
}

function coerceText(field: z.core.$ZodType, text: string): unknown {
  const inner = unwrap(field);
  if (inner instanceof z.ZodNumber) {
    return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  }
  if (inner instanceof z.ZodBoolean) {
    return text === "true" ? true : text === "false" ? false : text;
  }
  if (inner instanceof z.ZodEnum) {
    return inner.options.find((option) => String(option).toLowerCase() === text.toLowerCase()) ?? text;
  }
  const expectsJson =
    inner instanceof z.ZodObject || inner instanceof z.ZodArray || inner instanceof z.ZodRecord;
  const value = expectsJson ? parseJson(text) : undefined;
  return value === undefined ? text : value;
}

/** Converts a phone number or an id that was sent as a number. */
function coerceNumber(field: z.core.$ZodType, value: unknown): unknown {
  return typeof value === "number" && unwrap(field) instanceof z.ZodString ? String(value) : value;
}

/** Moves a tool's fields to the places where its route expects them. */
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
