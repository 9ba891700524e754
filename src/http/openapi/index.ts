/**
 * Derives the OpenAPI 3.1 document from the catalogue. It is loaded at the first request for the document,
 * because converting the schemas takes a seventh of the CPU time of a start.
 */
import { ErrorBody, ErrorDetail, type JsonSchema, type Operation } from "../../../tools/contract/index.ts";
import { tagDescriptions } from "../../../tools/tags.ts";
import type { HttpRoute } from "../../ports/transport/http-route.ts";
import { createComponents } from "./components.ts";
import { describeOperations } from "./operations.ts";
import { describeFailures, describeParked, headerComponents } from "./responses.ts";
import { describeDocument, describeRoutes } from "./routes.ts";
import { describeWebhooks, webhookParameters } from "./webhooks.ts";

export interface ApiParts {
  readonly operations: Readonly<Record<string, Operation>>;
  readonly routes: readonly HttpRoute[];
  readonly version: string;
  /** The path of the document itself. */
  readonly documentPath: string;
}

export function describeApi({ operations, routes, version, documentPath }: ApiParts): JsonSchema {
  const components = createComponents();
  components.read(ErrorBody, "output");
  components.name("Warnings", {
    type: "array",
    description: "The fields of the body or the query that were ignored.",
    items: components.read(ErrorDetail, "output"),
  });
  const webhooks = describeWebhooks(components);
  const paths: Record<string, Record<string, JsonSchema>> = {};
  const described = [
    ...describeOperations(operations, components),
    ...describeRoutes(routes, components),
    describeDocument(documentPath),
  ];
  for (const { method, path, description } of described) {
    paths[path] = { ...paths[path], [method.toLowerCase()]: description };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Tidings",
      version,
      description:
        "Business messaging over a chat channel. A success has its object or list in data; every failure has the same envelope, with a stable error.code and what to do next in error.fix.",
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [{ url: "/", description: "The service that serves this document." }],
    tags: describeTags([...Object.values(paths), ...Object.values(webhooks)]),
    paths,
    webhooks,
    components: {
      schemas: components.schemas,
      responses: { ...describeFailures(), Parked: describeParked() },
      parameters: { IdempotencyKey: idempotencyKey, ...webhookParameters },
      headers: headerComponents,
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
        bearer: { type: "http", scheme: "bearer", description: "An access token or an API key." },
      },
    },
  };
}

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Any text, for example a UUID: a repeated request with the same key gets the stored response. Kept for 24 hours.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

/** The tags that the operations of these paths have. */
function describeTags(items: readonly Readonly<Record<string, JsonSchema>>[]): JsonSchema[] {
  const used = new Set(items.flatMap((item) => Object.values(item).flatMap(({ tags }) => tags)));
  return Object.entries(tagDescriptions).flatMap(([name, description]) =>
    used.has(name) ? [{ name, description }] : [],
  );
}
