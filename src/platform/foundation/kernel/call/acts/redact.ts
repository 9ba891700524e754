/**
 * Reduces an input to what may be recorded. Only values of known kinds are kept: numbers, booleans, the words
 * of an enumeration, times, ids and scopes. Every other value, such as a text, an address, a number of a
 * phone or a password, is replaced by "…". Fields that the schema does not name are dropped.
 */
import { z } from "zod";
import { type Operation, readScope, unwrap } from "../../../../../../tools/contract/index.ts";
import { isSecretName } from "../../../sealing/index.ts";

/** Stands for a value that was sent and is not recorded. */
export const hidden = "…";

/** The items of a list that are recorded. */
const maxItems = 10;

export function redactInput({ input: schema }: Pick<Operation, "input">, input: unknown): unknown {
  return redact([schema], input);
}

/** `fields` are the schemas that the value may have. */
function redact(fields: readonly z.core.$ZodType[], value: unknown): unknown {
  const schemas = fields.flatMap(optionsOf);
  if (value === null || value === undefined) {
    return null;
  }
  if (Array.isArray(value)) {
    return redactList(schemas, value);
  }
  if (typeof value === "object") {
    return redactObject(schemas, value as Readonly<Record<string, unknown>>); // no list, checked above
  }
  return isOpen(schemas, value) ? value : hidden;
}

function redactList(schemas: readonly z.core.$ZodType[], values: readonly unknown[]): unknown {
  const elements = schemas.flatMap((schema) => (schema instanceof z.ZodArray ? schema.element : []));
  if (elements.length === 0) {
    return hidden;
  }
  const shown = values.slice(0, maxItems).map((value) => redact(elements, value));
  const left = values.length - shown.length;
  return left === 0 ? shown : [...shown, `… ${left} more`];
}

function redactObject(
  schemas: readonly z.core.$ZodType[],
  value: Readonly<Record<string, unknown>>,
): unknown {
  const objects = schemas.filter((schema) => schema instanceof z.ZodObject);
  if (objects.length === 0) {
    return hidden;
  }
  const names = new Set(objects.flatMap(({ shape }) => Object.keys(shape)));
  const sent = [...names].filter((name) => Object.hasOwn(value, name) && value[name] !== undefined);
  return Object.fromEntries(
    sent.map((name) => {
      const fields = objects.flatMap(({ shape }) => shape[name] ?? []);
      return [name, isSecretName(name) ? hidden : redact(fields, value[name])];
    }),
  );
}

function isOpen(schemas: readonly z.core.$ZodType[], value: unknown): boolean {
  return (
    (typeof value === "string" && isOpenText(value)) ||
    schemas.some((schema) => isKnownKind(schema) && z.safeParse(schema, value).success)
  );
}

function isKnownKind(schema: z.core.$ZodType): boolean {
  return knownKinds.some((kind) => schema instanceof kind);
}

const knownKinds = [z.ZodNumber, z.ZodBoolean, z.ZodEnum, z.ZodLiteral, z.ZodNull];

function isOpenText(text: string): boolean {
  return isRecordId(text) || readScope(text) !== undefined || isTime(text);
}

const isTime = (text: string) =>
  /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text);

const isRecordId = (text: string) => /^[a-z]{2,8}_[0-9a-z]{26}$/.test(text);

/** The options of a union, at every depth; else the schema itself. */
function optionsOf(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  const inner = unwrap(schema);
  return inner instanceof z.ZodUnion ? inner.options.flatMap((option) => optionsOf(option)) : [inner];
}

/** More than a call with 1,000 messages has. */
const maxIds = 5_000;

/** Nothing deeper is stored. A member that the schema does not name may be nested much deeper. */
const maxDepth = 32;

/** The ids of records in these values, each once, in the order in which they appear. */
export function idsIn(...values: readonly unknown[]): readonly string[] {
  const found = new Set<string>();
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === "string") {
      if (isRecordId(value) && found.size < maxIds) {
        found.add(value);
      }
    } else if (typeof value === "object" && value !== null && depth < maxDepth) {
      for (const member of Object.values(value)) {
        visit(member, depth + 1);
      }
    }
  };
  for (const value of values) {
    visit(value, 0);
  }
  return [...found];
}
