/** Describes the operations of the catalogue as paths of the document. */
import {
  type Credential,
  describeRule,
  documentedPaths,
  type JsonSchema,
  type Operation,
  type ScopeRule,
} from "../../../tools/contract/index.ts";
import { resources } from "../../../tools/index.ts";
import { requestExamples as catalogueExamples } from "../../../tools/request-examples.ts";
import { hasQuery } from "../operations/index.ts";
import type { Components } from "./components.ts";
import { withExample } from "./examples.ts";
import { describePath, describeQuery, type Fields, fieldsOutside, readFields } from "./parameters.ts";
import {
  failuresOf,
  type HeaderName,
  rateLimitHeaders,
  refer,
  referFailures,
  referHeaders,
} from "./responses.ts";

/** One method of one path. */
export interface DescribedRoute {
  readonly method: string;
  readonly path: string;
  readonly description: JsonSchema;
}

export function describeOperations(
  operations: Readonly<Record<string, Operation>>,
  components: Components,
): DescribedRoute[] {
  const entries = Object.entries(operations);
  // All output first, so that a schema that input has in another form keeps its name in output.
  const responses = entries.map(([name, operation]) => describeResponse(name, operation, components));
  return entries.flatMap(([name, operation], index) =>
    documentedPaths(operation).map(({ path, credential, scope = operation.scope }, place) => ({
      method: operation.method,
      path,
      description: {
        operationId: place === 0 ? name : `${name}_${place + 1}`,
        tags: [tagOf(name)],
        summary: operation.title,
        description: describeScope(operation.description, scope),
        security: security[credential],
        ...describeInput(name, operation, path, components),
        responses: {
          [operation.status]: responses[index],
          ...(operation.parked ? { 202: refer("responses", "Parked") } : {}),
          ...referFailures(failuresOf(operation, path, credential)),
        },
      },
    })),
  );
}

export const security: Readonly<Record<Credential, readonly JsonSchema[]>> = {
  any: [{ apiKey: [] }, { bearer: [] }],
  bearer: [{ bearer: [] }],
  person: [{ bearer: [] }],
  operator: [{ apiKey: [] }, { bearer: [] }],
  none: [],
};

export function describeScope(description: string, scope: ScopeRule | null): string {
  return scope ? `${description} Scope: ${describeRule(scope)}.` : description;
}

/** The resource that has the operation. */
function tagOf(name: string): string {
  return Object.entries(resources).find(([, contract]) => name in contract)?.[0] ?? "service";
}

/** Two paths of one operation have the same response. */
function describeResponse(name: string, operation: Operation, components: Components): JsonSchema {
  const headers: HeaderName[] = [
    "X-Request-Id",
    ...rateLimitHeaders,
    ...(isIdempotent(operation) ? (["Idempotency-Replayed"] as const) : []),
  ];
  const own = Object.entries(operation.responseHeaders).map(([header, value]) => [
    header,
    { description: `Always ${value}.`, schema: { type: "string" } },
  ]);
  return {
    description: "Done.",
    headers: { ...referHeaders(headers), ...Object.fromEntries(own) },
    content: {
      "application/json": withExample(describeOutput(name, operation, components), {
        schemas: components.schemas,
        owner: tagOf(name),
      }),
    },
  };
}

/** Whether the response is stored under the caller's key. Signing in is not. */
function isIdempotent({ effect, sensitive }: Operation): boolean {
  return effect === "public" ? !sensitive : effect !== "read";
}

function describeOutput(name: string, { output }: Operation, components: Components): JsonSchema {
  const { properties, ...envelope } = components.read(output, "output");
  const { data, ...others } = properties as Readonly<Record<string, JsonSchema>>; // of every output
  const schema = {
    ...envelope,
    properties: { data: nameData(name, data, components), ...others, warnings: refer("schemas", "Warnings") },
  };
  return components.name(`${toTypeName(name)}Response`, schema);
}

/** Names the object, or the objects of the list, that has no name of its own. */
function nameData(name: string, data: JsonSchema = {}, components: Components): JsonSchema {
  if (data.type === "array" && isUnnamedObject(data.items)) {
    return { ...data, items: components.name(`${toTypeName(name)}Item`, data.items) };
  }
  return isUnnamedObject(data) ? components.name(`${toTypeName(name)}Data`, data) : data;
}

function isUnnamedObject(schema: unknown): schema is JsonSchema {
  return typeof schema === "object" && schema !== null && "properties" in schema;
}

/** `get_contact` → `GetContact`, `message.sent` → `MessageSent`. */
export function toTypeName(name: string): string {
  return name.replace(/(?:^|[_.])(\w)/g, (_, first: string) => first.toUpperCase());
}

function describeInput(name: string, operation: Operation, path: string, components: Components): JsonSchema {
  const fields = readFields(components.read(operation.input, "input"));
  const others = fieldsOutside(path, fields);
  const parameters = [
    ...describePath(path, fields),
    ...(hasQuery(operation) ? describeQuery(others) : []),
    ...(isIdempotent(operation) ? [refer("parameters", "IdempotencyKey")] : []),
  ];
  const hasBody = !hasQuery(operation) && Object.keys(others.properties).length > 0;
  return {
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(hasBody ? { requestBody: describeBody(name, operation, others, components) } : {}),
  };
}

/** A form has a file part where JSON has the base64 field. */
function describeBody(
  name: string,
  { encoding }: Operation,
  { properties, required }: Fields,
  components: Components,
): JsonSchema {
  const context = { schemas: components.schemas, owner: tagOf(name) } as const;
  const describe = (suffix: string, members: JsonSchema) => {
    const needed = required.length > 0 ? { required } : {};
    const schema = { type: "object", properties: members, ...needed };
    return withExample(components.name(toTypeName(name) + suffix, schema), context, requestExamples[name]);
  };
  const { content_base64: _, ...fields } = properties;
  const file = { type: "string", format: "binary" };
  return {
    required: required.length > 0,
    content: {
      ...(encoding === "multipart" ? { "multipart/form-data": describe("Form", { file, ...fields }) } : {}),
      "application/json": describe("Request", properties),
    },
  };
}

/** The examples of the catalogue's operations; other operations have none. */
const requestExamples: Readonly<Record<string, object>> = catalogueExamples;
