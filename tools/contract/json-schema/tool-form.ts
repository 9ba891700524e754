/**
 * The form that an input's schema has in the list of tools: what a model needs to make the call, in the
 * keywords that the converters of all clients keep (`npm run converters`). What is left out is
 * validated all the same.
 *
 * A default is a part of the description. A value of any type is a text. An object of any members says
 * so. A map, whose names no schema can list for a strict client, is a list of its entries. The arguments
 * are read in both forms.
 */
import type { JsonSchema } from "./simplify.ts";

/** A limit that callers often exceed belongs in the description. */
const omittedKeywords = new Set([
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "pattern",
  "exclusiveMinimum",
  "default",
]);

export function toToolForm(schema: JsonSchema): JsonSchema {
  const single = withoutNull(schema);
  const kept = Object.entries(single).filter(([keyword, value]) => isKept(keyword, value));
  const described = describeDefault(Object.fromEntries(kept), single.default);
  if (isSchema(single.properties)) {
    return { ...described, properties: toToolForms(single.properties) };
  }
  if (single.type === "object") {
    const { additionalProperties: value } = single;
    const isMap = isSchema(value) && Object.keys(value).length > 0;
    return isMap ? toEntries(described, value) : { ...described, additionalProperties: true };
  }
  if (isSchema(single.items)) {
    return { ...described, items: toToolForm(single.items) };
  }
  return single.type === undefined ? { type: "string", ...described } : described;
}

/** The lower bounds 0 and 1 are those that everybody expects, and nobody reaches a very high upper one. */
function isKept(keyword: string, value: unknown): boolean {
  const isExpected =
    (keyword === "minimum" && (value === 0 || value === 1)) ||
    (keyword === "maximum" && Number(value) >= 1e6);
  const isOtherFormat = keyword === "format" && value !== "date-time";
  return !omittedKeywords.has(keyword) && !isExpected && !isOtherFormat;
}

/** The schema of the value, which null only leaves out. */
function withoutNull({ anyOf, ...schema }: JsonSchema): JsonSchema {
  if (!Array.isArray(anyOf)) {
    return schema;
  }
  const options: JsonSchema[] = anyOf.filter((option: JsonSchema) => option.type !== "null");
  return options.length === 1 ? { ...options[0], ...schema } : { ...schema, anyOf: options };
}

/** An empty default is the expected one. */
function describeDefault(schema: JsonSchema, value: unknown): JsonSchema {
  const { description = "" } = schema;
  if (isEmpty(value) || /\bdefault\b/i.test(String(description))) {
    return schema;
  }
  const text = description === "" ? `Default ${value}` : `${description}; default ${value}`;
  return { ...schema, description: text };
}

/** A list of the entries of a map, each with its name and the members of its value. */
function toEntries({ description }: JsonSchema, value: JsonSchema): JsonSchema {
  const members = membersOf(value);
  const properties = { name: { type: "string" }, ...(members ?? { value: toToolForm(value) }) };
  const required = members ? ["name"] : ["name", "value"];
  const items = { type: "object", properties, required, additionalProperties: false };
  return { type: "array", items, ...(description === undefined ? {} : { description }) };
}

/** The members of an object, or of all objects of a union. */
function membersOf({ anyOf, properties }: JsonSchema): JsonSchema | undefined {
  const options: readonly unknown[] = Array.isArray(anyOf) ? anyOf : [{ properties }];
  const objects = options.flatMap((option) =>
    isSchema(option) && isSchema(option.properties) ? [option.properties] : [],
  );
  return objects.length === 0 ? undefined : toToolForms(Object.assign({}, ...objects));
}

function toToolForms(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, toToolForm(field)]));
}

function isEmpty(value: unknown): boolean {
  const isEmptyObject = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return value === undefined || value === "" || value === 0 || isEmptyObject;
}

function isSchema(value: unknown): value is Readonly<Record<string, JsonSchema>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
