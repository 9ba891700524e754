/** Derives the OpenAPI 3.1 document from the catalogue. */
import {
  type Credential,
  describeRule,
  ErrorBody,
  ErrorDetail,
  type JsonSchema,
  type Operation,
  pathFields,
  toJsonSchema,
} from "../../../tools/contract/index.ts";

export function describeApi(operations: Readonly<Record<string, Operation>>, version: string): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [name, operation] of Object.entries(operations)) {
    for (const [index, { path, credential }] of [operation, ...operation.also].entries()) {
      const operationId = index === 0 ? name : `${name}_${index + 1}`;
      paths[path] = {
        ...paths[path],
        [operation.method.toLowerCase()]: describeOperation(operationId, operation, path, credential),
      };
    }
  }
  return {
    openapi: "3.1.0",
    info: { title: "Tidings", version, description: "Business messaging over a chat channel." },
    paths,
    components: {
      schemas: {
        Error: toJsonSchema(ErrorBody, "output"),
        Warnings: {
          type: "array",
          description: "The fields of the body or the query that were ignored.",
          items: toJsonSchema(ErrorDetail, "output"),
        },
      },
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
        bearer: { type: "http", scheme: "bearer", description: "An access token or an API key." },
      },
    },
  };
}

const security: Record<Credential, JsonSchema[]> = {
  any: [{ apiKey: [] }, { bearer: [] }],
  bearer: [{ bearer: [] }],
  operator: [{ apiKey: [] }, { bearer: [] }],
  none: [],
};

function describeOperation(
  operationId: string,
  operation: Operation,
  path: string,
  credential: Credential,
): JsonSchema {
  const { title, description, scope, status } = operation;
  return {
    operationId,
    summary: title,
    description: scope ? `${description} Scope: ${describeRule(scope)}.` : description,
    security: security[credential],
    ...describeInput(operation, path),
    responses: {
      [status]: {
        description: "Done.",
        content: { "application/json": { schema: describeOutput(operation) } },
      },
      default: {
        description: "Failed; error.code says why, and error.fix what to do.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

function describeOutput({ output }: Operation): JsonSchema {
  const schema = toJsonSchema(output, "output");
  const warnings = { $ref: "#/components/schemas/Warnings" };
  return { ...schema, properties: { ...Object(schema.properties), warnings } };
}

function describeInput({ input, method, encoding }: Operation, path: string): JsonSchema {
  const { properties = {}, required = [] } = toJsonSchema(input, "input") as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  const inPath = pathFields(path);
  const others = Object.keys(properties).filter((name) => !inPath.includes(name));
  const isInQuery = method === "GET" || method === "DELETE";
  const parameter = (name: string, place: "path" | "query") => {
    const { description, ...schema } = properties[name] ?? {};
    return { name, in: place, required: place === "path" || required.includes(name), description, schema };
  };
  const parameters = [
    ...inPath.map((name) => parameter(name, "path")),
    ...(isInQuery ? others.map((name) => parameter(name, "query")) : []),
  ];
  const needed = required.filter((name) => others.includes(name));
  const schema = {
    type: "object",
    properties: Object.fromEntries(others.map((name) => [name, properties[name]])),
    ...(needed.length > 0 ? { required: needed } : {}),
  };
  return {
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(isInQuery || others.length === 0
      ? {}
      : { requestBody: { required: needed.length > 0, content: contentOf(encoding, schema) } }),
  };
}

/** A form has a file part where JSON has the base64 field. */
function contentOf(encoding: Operation["encoding"], schema: { properties: JsonSchema }): JsonSchema {
  const json = { "application/json": { schema } };
  if (encoding === "json") {
    return json;
  }
  const { content_base64: _, ...fields } = schema.properties;
  const properties = { file: { type: "string", format: "binary" }, ...fields };
  return { "multipart/form-data": { schema: { ...schema, properties } }, ...json };
}
