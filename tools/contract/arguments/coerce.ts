/**
 * Converts arguments to the types of their schema, at every depth that the schema describes: null for an
 * absent option, a number or an object sent as text, an enum value in another case, and the entries of a map
 * as a list. Since null leaves a field out, an empty text removes a value that can be null.
 */
import { z } from "zod";
import { failInput } from "../failure.ts";
import { parseJson } from "../json.ts";
import { isNullable, unwrap } from "../json-schema/index.ts";

type Path = readonly PropertyKey[];

/**
 * Converts each field to the type in its schema; also turns a query string into numbers and booleans.
 * @throws Failure `invalid_request` for a list of entries without a name each.
 */
export function coerceFields(
  schema: z.ZodObject,
  sent: Readonly<Record<string, unknown>>,
  path: Path = [],
): Record<string, unknown> {
  const coerced: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    const value = sent[name];
    // A client in strict mode sends every field.
    const isAbsent = value === undefined || (value === null && field.safeParse(undefined).success);
    if (!isAbsent) {
      coerced[name] = value === "" && isNullable(field) ? null : coerce(field, value, [...path, name]);
    }
  }
  return coerced;
}

function coerce(field: z.core.$ZodType, sent: unknown, path: Path): unknown {
  const schema = unwrap(field);
  const value = typeof sent === "string" ? coerceText(schema, sent) : sent;
  if (schema instanceof z.ZodString) {
    return typeof value === "number" ? String(value) : value; // a phone number or an id
  }
  if (schema instanceof z.ZodArray) {
    return Array.isArray(value)
      ? value.map((item, index) => coerce(schema.element, item, [...path, index]))
      : value;
  }
  if (schema instanceof z.ZodRecord) {
    return Array.isArray(value) ? readEntries(schema, value, path) : value;
  }
  return schema instanceof z.ZodObject && isRecord(value) ? coerceMembers(schema, value, path) : value;
}

function coerceText(schema: z.core.$ZodType, text: string): unknown {
  if (schema instanceof z.ZodNumber) {
    return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  }
  if (schema instanceof z.ZodBoolean) {
    return text === "true" ? true : text === "false" ? false : text;
  }
  if (schema instanceof z.ZodEnum) {
    return schema.options.find((option) => String(option).toLowerCase() === text.toLowerCase()) ?? text;
  }
  const value = jsonTypes.some((type) => schema instanceof type) ? parseJson(text) : undefined;
  return typeof value === "object" && value !== null ? value : text;
}

/** The list of tools has a value of any type as a text. */
const jsonTypes = [z.ZodObject, z.ZodArray, z.ZodRecord, z.ZodUnknown];

/** Unknown members stay, to be rejected by their names. */
function coerceMembers(schema: z.ZodObject, value: JsonObject, path: Path): JsonObject {
  const unknown = Object.entries(value).filter(([name]) => !Object.hasOwn(schema.shape, name));
  return { ...Object.fromEntries(unknown), ...coerceFields(schema, value, path) };
}

/**
 * Reads a map from the list of its entries (`tool-form.ts`). The list of tools has an open object as an
 * object, so its schema rejects another list.
 * @throws Failure `invalid_request` if not each entry has its own name.
 */
function readEntries(schema: z.ZodRecord, list: readonly unknown[], path: Path): unknown {
  const isOpen = schema.valueType instanceof z.ZodUnknown;
  const entries = list.flatMap((entry): [string, unknown][] => {
    if (!isRecord(entry) || !isName(entry.name)) {
      return [];
    }
    const [name, value] = [String(entry.name), readEntry(schema, entry)];
    // The texts of an open object stay as they are.
    return [[name, isOpen ? value : coerce(schema.valueType, value, [...path, name])]];
  });
  const map = Object.fromEntries(entries);
  if (Object.keys(map).length === list.length) {
    return map;
  }
  if (isOpen) {
    return list;
  }
  const message = "Each entry of the list needs a name of its own.";
  throw failInput([{ code: "custom", path: [...path], message, input: list }], undefined);
}

/** The names of a template's variables are numbers. */
function isName(name: unknown): name is string | number {
  return typeof name === "string" || typeof name === "number";
}

/** The value of an entry: the one that it names so, or the object of its other members. */
function readEntry({ valueType }: z.ZodRecord, { name: _, ...entry }: JsonObject): unknown {
  const members = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null));
  const { value, ...others } = members;
  const isObject = unwrap(valueType) instanceof z.ZodObject || unwrap(valueType) instanceof z.ZodUnion;
  const isWhole = Object.keys(others).length === 0 && value !== undefined;
  return isWhole && (!isObject || isRecord(value)) ? value : members;
}

type JsonObject = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
