/**
 * What a tool is: an operation as a model sees it, derived from its declaration.
 *
 * A tool's input is strict (a made-up argument is refused, with the list of known ones) and is read
 * liberally where that is harmless: `null` for an absent option, a number or a JSON text where a number
 * or an object is meant, an enum in other letters. The same reading serves MCP and POST /v1/mcp/tools/call.
 */
import { z } from "zod";
import { failInput, failRequest } from "./failure.ts";
import { parseJson } from "./json.ts";
import type { Hints, Operation, ToolForm } from "./operation.ts";
import type { ScopeRule } from "./scopes.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** One tool as a list shows it. */
export interface Tool {
  readonly name: string;
  /** The operation that it calls, by its name in the catalogue. */
  readonly operation: string;
  readonly scope: ScopeRule | null;
  readonly title: string;
  readonly description: string;
  readonly hints: Hints;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
}

/** Every tool of a catalogue, in its order. */
export function describeTools(catalogue: Readonly<Record<string, Operation>>): Tool[] {
  return Object.entries(catalogue).flatMap(([operationName, operation]) =>
    Object.entries(formsOf(operationName, operation)).map(([name, form]) => ({
      name,
      operation: operationName,
      scope: operation.scope,
      title: form.title,
      description: form.description,
      hints: operation.hints,
      inputSchema: toJsonSchema(z.strictObject(form.input.shape), "tool"),
      outputSchema: toJsonSchema(operation.output, "output"),
    })),
  );
}

/** The names of every tool of a catalogue. */
export function toolNames(catalogue: Readonly<Record<string, Operation>>): string[] {
  return Object.entries(catalogue).flatMap(([name, operation]) => Object.keys(formsOf(name, operation)));
}

/** The tools of one operation: its own by the same name, unless it declares others. */
export function formsOf(name: string, operation: Operation): Readonly<Record<string, ToolForm>> {
  return operation.tools ?? { [name]: operation };
}

/**
 * Reads a tool's arguments into its operation's input.
 * @throws Failure `invalid_request`, or `unknown_argument` with the known ones.
 */
export function readArguments(
  form: ToolForm,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const shape = form.input.shape;
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(shape, name));
  if (unknown.length > 0) {
    throw failRequest("unknown_argument", {
      value: unknown.join(", "),
      known: Object.keys(shape).join(", ") || "none",
    });
  }
  const liberal = readFields(form.input, given);
  const parsed = form.input.safeParse(liberal);
  if (!parsed.success) {
    throw failInput(parsed.error.issues, liberal);
  }
  return place(form, parsed.data);
}

/** Reads each field as its schema means it; also how a query string becomes numbers and booleans. */
export function readFields(
  schema: z.ZodObject,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    const value = given[name];
    const isAbsent = value === undefined || (value === null && field.safeParse(undefined).success);
    if (!isAbsent) {
      read[name] = typeof value === "string" ? readText(field, value) : readNumber(field, value);
    }
  }
  return read;
}

function readText(field: z.core.$ZodType, text: string): unknown {
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
  const wantsJson =
    inner instanceof z.ZodObject || inner instanceof z.ZodArray || inner instanceof z.ZodRecord;
  const value = wantsJson ? parseJson(text) : undefined;
  return value === undefined ? text : value;
}

/** A phone number or an id that was sent as a number. */
function readNumber(field: z.core.$ZodType, value: unknown): unknown {
  return typeof value === "number" && unwrap(field) instanceof z.ZodString ? String(value) : value;
}

function unwrap(field: z.core.$ZodType): z.core.$ZodType {
  const isWrapper =
    field instanceof z.ZodOptional || field instanceof z.ZodDefault || field instanceof z.ZodNullable;
  return isWrapper ? unwrap(field.unwrap()) : field;
}

/** Where an answer holds what customers wrote: `data[].text.body`. */
export function untrustedPaths(schema: z.core.$ZodType, path = ""): string[] {
  if (z.globalRegistry.get(schema)?.untrusted === true) {
    return [path];
  }
  const inner = unwrap(schema);
  if (inner !== schema) {
    return untrustedPaths(inner, path);
  }
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape).flatMap(([name, field]) =>
      untrustedPaths(field, path === "" ? name : `${path}.${name}`),
    );
  }
  if (inner instanceof z.ZodArray) {
    return untrustedPaths(inner.element, `${path}[]`);
  }
  return inner instanceof z.ZodUnion ? inner.options.flatMap((one) => untrustedPaths(one, path)) : [];
}

/** Puts a tool's fields where its route expects them. */
function place(form: ToolForm, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const input: Record<string, unknown> = { ...form.fixed };
  for (const [name, value] of Object.entries(fields)) {
    const [outer = name, inner] = (form.place?.[name] ?? name).split(".");
    if (value !== undefined) {
      input[outer] =
        inner === undefined ? value : { ...(input[outer] as object | undefined), [inner]: value };
    }
  }
  return input;
}

/**
 * A Zod schema as the JSON Schema that clients accept everywhere: an object at the root, no `$ref`,
 * no `$schema`, no long patterns. Input is closed; output is open, so that a field added later
 * does not break a client that validates. A tool's is an input that costs a model few tokens.
 */
export function toJsonSchema(schema: z.ZodType, use: "input" | "output" | "tool"): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: use === "output" ? "output" : "input",
    reused: "inline",
    unrepresentable: "any",
    override({ jsonSchema, zodSchema }) {
      if (jsonSchema.format !== undefined) {
        delete jsonSchema.pattern;
      }
      if (Number(jsonSchema.maximum) >= maxInt32) {
        delete jsonSchema.maximum;
      }
      if (Number(jsonSchema.minimum) <= minInt32) {
        delete jsonSchema.minimum;
      }
      if (zodSchema._zod.def.type === "record") {
        delete jsonSchema.propertyNames;
      }
      if (jsonSchema.const !== undefined) {
        jsonSchema.enum = [jsonSchema.const];
        delete jsonSchema.const;
      }
      if (use === "output") {
        delete jsonSchema.additionalProperties;
      }
      if (use === "tool") {
        shorten(jsonSchema);
      }
      delete jsonSchema.untrusted; // ours, and no keyword of JSON Schema
    },
  });
  return json;
}

/** Wider bounds are those of the number's type: they tell nobody anything. */
const maxInt32 = 2 ** 31 - 1;
const minInt32 = -(2 ** 31);

/** Checked all the same, and named when refused; a limit that is easily met stands in a description. */
const unsaid = ["minLength", "maxLength", "minItems", "maxItems", "pattern", "exclusiveMinimum"] as const;

/** Leaves out what a model does not need in order to call well: every listed tool is paid for on every turn. */
function shorten(schema: z.core.JSONSchema.BaseSchema): void {
  for (const keyword of unsaid) {
    delete schema[keyword];
  }
  if (isEmpty(schema.default)) {
    delete schema.default;
  }
  if (isEmpty(schema.additionalProperties)) {
    delete schema.additionalProperties;
  }
  const [value, none, ...others] = schema.anyOf ?? [];
  if (typeof value === "object" && typeof none === "object" && none.type === "null" && others.length === 0) {
    delete schema.anyOf;
    Object.assign(schema, { ...value, ...schema });
  }
}

/** As a default it is what anybody expects, as a schema it allows everything. */
function isEmpty(value: unknown): boolean {
  return (
    value === "" ||
    value === 0 ||
    (typeof value === "object" && value !== null && Object.keys(value).length === 0)
  );
}
