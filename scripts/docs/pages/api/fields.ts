/** The fields of a schema as rows of a table: name, type, meaning. */
import { code } from "../../markdown.ts";
import { resolveSchema, type Schema } from "./document.ts";

/** How many levels of objects are shown; the OpenAPI document has the rest. */
const maxLevels = 3;

interface Place {
  readonly prefix: string;
  readonly level: number;
}

/** `shows`: whether a field that is always there is marked, which requests need and answers don't. */
export function fieldRows(
  schema: Schema,
  { marksRequired }: { readonly marksRequired: boolean },
): readonly (readonly string[])[] {
  const rowsIn = (object: Schema, { prefix, level }: Place): readonly (readonly string[])[] => {
    const { properties = {}, required = [] } = resolveSchema(object);
    return Object.entries(properties).flatMap(([key, value]) => {
      const field = resolveSchema(value);
      const name = prefix + key;
      const mark = marksRequired && level === 1 && required.includes(key) ? " **required**" : "";
      const inner = level < maxLevels ? innerObject(field) : undefined;
      return [
        [code(name) + mark, typeOf(field), meaningOf(field)],
        ...(inner ? rowsIn(inner.object, { prefix: `${name}${inner.suffix}.`, level: level + 1 }) : []),
      ];
    });
  };
  const whole = resolveSchema(schema);
  return rowsIn(whole.type === "array" && whole.items ? whole.items : whole, { prefix: "", level: 1 });
}

/** The object in a field: itself, or that of a list or of a value that may be null. */
function innerObject(field: Schema): { readonly object: Schema; readonly suffix: string } | undefined {
  if (field.properties) {
    return { object: field, suffix: "" };
  }
  if (field.items) {
    const item = resolveSchema(field.items);
    return item.properties && { object: item, suffix: "[]" };
  }
  const [only, ...others] = alternativesOf(field);
  return only && others.length === 0 ? innerObject(only) : undefined;
}

function typeOf(field: Schema): string {
  const alternatives = alternativesOf(field);
  if (alternatives.length > 0) {
    const types = [...new Set(alternatives.map(typeOf))].join(" or ");
    return isNullable(field) ? `${types} or null` : types;
  }
  if (field.type === "array") {
    return `list of ${typeOf(resolveSchema(field.items ?? {}))}`;
  }
  return field.format === "date-time" ? "time" : (field.type ?? "any");
}

function meaningOf(field: Schema): string {
  const values = [field, ...alternativesOf(field)].flatMap((one) => one.enum ?? []);
  const listed = values.length > 0 ? values.map((value) => code(String(value))).join(", ") : "";
  const { description = "" } = field;
  return [description, listed].filter(Boolean).join(": ");
}

function alternativesOf({ anyOf, oneOf }: Schema): readonly Schema[] {
  return (anyOf ?? oneOf ?? []).map(resolveSchema).filter(({ type }) => type !== "null");
}

function isNullable({ anyOf, oneOf }: Schema): boolean {
  return (anyOf ?? oneOf ?? []).some(({ type }) => type === "null");
}
