/**
 * Validates requests by the schemas of Meta's OpenAPI document, and words the error as the Cloud API does.
 */
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { GraphError, invalidParameter } from "./graph-error.ts";
import contract from "./schemas.json" with { type: "json" };

export type Fields = Readonly<Record<string, unknown>>;
export type SchemaName = keyof typeof contract.$defs;

const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true });
ajv.addSchema({ $id: "contract", $defs: contract.$defs });

const messageSchemas: Readonly<Record<string, string>> = contract.messages;
export const messageTypes: readonly string[] = Object.keys(messageSchemas);

/** @throws GraphError for a body that is not of this schema. */
export function requireSchema(name: SchemaName, body: Fields): void {
  const error = findError(name, body);
  if (error) {
    throw error;
  }
}

/** The error of a message. The type is known to exist. */
export function findMessageError(type: string, body: Fields): GraphError | undefined {
  return findError(messageSchemas[type] ?? "", body);
}

function findError(name: string, body: Fields): GraphError | undefined {
  const validate = ajv.getSchema(`contract#/$defs/${name}`);
  if (!validate) {
    throw new Error(`the contract has no schema ${name}`);
  }
  // Schemas without `$async` validate synchronously.
  if (validate(body) as boolean) {
    return;
  }
  const errors = validate.errors ?? [];
  // The last error is the error of `oneOf` itself; the errors before it are about its alternatives.
  return toGraphError(errors.at(-1), errors);
}

function toGraphError(error: ErrorObject | undefined, all: readonly ErrorObject[]): GraphError {
  const { keyword = "", instancePath: path = "", params = {} } = error ?? {};
  if (keyword === "required") {
    return missing(join(path, params.missingProperty));
  }
  if (keyword === "anyOf" && path === "") {
    return missing("to");
  }
  const name = toParameter(path);
  if (keyword === "additionalProperties" || keyword === "unevaluatedProperties") {
    const key = params.additionalProperty ?? params.unevaluatedProperty;
    return invalidParameter(`Unexpected key "${key}" on param "${path === "" ? "message" : name}".`);
  }
  if (keyword === "oneOf" && all.some((one) => one.params.missingProperty === "link")) {
    return invalidParameter(`Param ${name} must have exactly one of id and link.`);
  }
  const sentence = `Param ${name} ${constraint(keyword, params) ?? `is not valid: ${error?.message}`}.`;
  return path.startsWith("/interactive") ? new GraphError(131009, sentence) : invalidParameter(sentence);
}

/** Parameters at the top have a sentence of their own. */
function missing(path: string): GraphError {
  return path.includes("/", 1)
    ? new GraphError(131008, `Required parameter is missing: ${toParameter(path)}`)
    : invalidParameter(`The parameter ${path.slice(1)} is required.`);
}

function constraint(keyword: string, params: Fields): string | undefined {
  const sentences: Readonly<Record<string, string>> = {
    maxLength: `must be at most ${params.limit} characters long`,
    minLength: `must be at least ${params.limit} characters long`,
    maxItems: `must have at most ${params.limit} items`,
    minItems: `must have at least ${params.limit} items`,
    enum: `must be one of {${Array.isArray(params.allowedValues) ? params.allowedValues.join(", ") : ""}}`,
    const: `must be "${params.allowedValue}"`,
    type: `must be of type ${params.type}`,
  };
  return sentences[keyword];
}

function join(path: string, name: unknown): string {
  return `${path}/${name}`;
}

/** `/text/body` as `text['body']`. */
function toParameter(path: string): string {
  const [first = "", ...rest] = path.split("/").slice(1);
  return first + rest.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `['${part}']`)).join("");
}
