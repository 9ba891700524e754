/** The OpenAPI document: what generators of clients need, and that the service does what it says. */
import { expect, test } from "vitest";
import type { JsonSchema } from "../tools/contract/index.ts";
import { publicEvents } from "../tools/events.ts";
import { useTestApp } from "./support/app.ts";
import { type ApiDocument, type DocumentedOperation, readDocument } from "./support/openapi.ts";

const methods = ["get", "put", "post", "delete", "patch"];

const app = useTestApp();

async function fetchDocument(): Promise<ApiDocument> {
  const answer = await app.fetch("/v1/openapi.json", { key: null });
  return (await answer.json()) as ApiDocument; // by OpenAPI
}

function operationsIn({ paths, webhooks }: ApiDocument): DocumentedOperation[] {
  const routes = Object.values(paths).flatMap((item) => methods.flatMap((method) => item[method] ?? []));
  return [...routes, ...Object.values(webhooks).map(({ post }) => post)];
}

/** A schema of the document, and where it stands. */
interface FoundSchema {
  readonly schema: JsonSchema;
  readonly place: string;
}

/** Every schema that a generator reads, with those inside it. */
function schemasIn({ paths, webhooks, components }: ApiDocument): FoundSchema[] {
  const named = Object.entries(components.schemas ?? {}).flatMap(([name, schema]) =>
    withInner({ schema, place: name }),
  );
  const others = findSchemas({ paths, webhooks, ...components, schemas: {} }, "");
  return [...named, ...others.flatMap(withInner)];
}

/** The values of `schema` in a part of the document. */
function findSchemas(part: unknown, place: string): FoundSchema[] {
  if (typeof part !== "object" || part === null) {
    return [];
  }
  return Object.entries(part).flatMap(([name, value]) => {
    if (name === "example") {
      return [];
    }
    const inner = `${place}/${name}`;
    return name === "schema" ? [{ schema: value as JsonSchema, place: inner }] : findSchemas(value, inner);
  });
}

function withInner(found: FoundSchema): FoundSchema[] {
  const { schema, place } = found;
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema;
  const inner = [
    ...Object.entries(properties as JsonSchema).map(([name, one]) => ({
      schema: one,
      place: `${place}.${name}`,
    })),
    ...[items, additionalProperties].map((one) => ({ schema: one, place: `${place}[]` })),
    ...[anyOf, oneOf, allOf].flatMap((options) =>
      (options as readonly unknown[]).map((one, index) => ({ schema: one, place: `${place}|${index}` })),
    ),
  ];
  const isSchema = (one: { readonly schema: unknown; readonly place: string }): one is FoundSchema =>
    typeof one.schema === "object" && one.schema !== null;
  return [found, ...inner.filter(isSchema).flatMap(withInner)];
}

const isNamed = ({ place }: FoundSchema) => /^\w+$/.test(place);

test("no two operations have the same id", async () => {
  const ids = operationsIn(await fetchDocument()).map(({ operationId }) => operationId);
  expect(ids.length).toBeGreaterThan(150);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  expect(ids.filter((id) => !/^[a-z][a-z0-9_]*$/.test(id))).toEqual([]);
});

test("every operation has one tag, which is described", async () => {
  const document = await fetchDocument();
  const described = document.tags.filter(({ description }) => description !== "").map(({ name }) => name);
  const used = operationsIn(document).map(({ tags }) => tags);
  expect(used.filter((tags) => tags.length !== 1)).toEqual([]);
  expect([...new Set(used.flat())].sort()).toEqual([...described].sort());
});

test("a union of more than a type and null has a name", async () => {
  const unnamed = schemasIn(await fetchDocument()).filter((found) => {
    const { anyOf = [], oneOf = [], allOf = [] } = found.schema;
    const options = [anyOf, oneOf, allOf].flat() as JsonSchema[]; // by JSON Schema
    return options.filter(({ type }) => type !== "null").length > 1 && !isNamed(found);
  });
  expect(unnamed.map(({ place }) => place)).toEqual([]);
});

test("every schema has a type, except the one for any value", async () => {
  const typed = ["type", "$ref", "anyOf", "oneOf", "allOf"];
  const untyped = schemasIn(await fetchDocument()).filter(
    ({ schema }) => !typed.some((keyword) => keyword in schema),
  );
  expect(untyped.map(({ place }) => place)).toEqual(["AnyValue"]);
});

test("no schema has several types, and every type is one of JSON Schema", async () => {
  const types = ["string", "integer", "number", "boolean", "object", "array", "null", undefined];
  const odd = schemasIn(await fetchDocument()).filter(({ schema }) => !types.includes(schema.type as string));
  expect(odd.map(({ place }) => place)).toEqual([]);
});

test("an object names its members, or says that it may have any", async () => {
  const closed = schemasIn(await fetchDocument()).filter(
    ({ schema: { type, properties, additionalProperties } }) =>
      type === "object" && properties === undefined && !additionalProperties,
  );
  expect(closed.map(({ place }) => place)).toEqual([]);
});

test("every required member is described", async () => {
  const missing = schemasIn(await fetchDocument()).flatMap(({ schema, place }) => {
    const { required = [], properties = {} } = schema as { required?: string[]; properties?: JsonSchema };
    return required.filter((name) => !(name in properties)).map((name) => `${place}.${name}`);
  });
  expect(missing).toEqual([]);
});

test("every reference is to a component that exists, and every schema is used", async () => {
  const document = await fetchDocument();
  const text = JSON.stringify(document);
  const used = new Set(
    [...text.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)].map(([, kind, name]) => `${kind}/${name}`),
  );
  const existing = Object.entries(document.components).flatMap(([kind, members]) =>
    kind === "securitySchemes" ? [] : Object.keys(members).map((name) => `${kind}/${name}`),
  );
  expect([...used].sort()).toEqual(existing.sort());
});

test("an estimate declares variables that can't be mapped, and a DELETE bodies that can't be read", async () => {
  const { paths } = await fetchDocument();
  const statuses = (path: string, method: string) => Object.keys(paths[path]?.[method]?.responses ?? {});
  expect(statuses("/v1/broadcasts/{id}/estimate", "get")).toContain("422");
  expect(statuses("/v1/contacts/{id}", "delete")).toEqual(expect.arrayContaining(["413", "415"]));
});

test("the resources of the specification have their names", async () => {
  const { components } = await fetchDocument();
  const resources = [
    "ApiKey",
    "Team",
    "TeamMember",
    "RoutingPolicy",
    "Flow",
    "Conversation",
    "Assignment",
    "Message",
    "Contact",
    "QuickReply",
    "Template",
    "Cohort",
    "Broadcast",
    "PaymentOrder",
    "Payment",
    "Subscription",
    "ChatbotAddon",
    "KnowledgeBaseDocument",
    "QaPair",
    "RetrievalResult",
    "ChatbotConfiguration",
    "Upload",
    "PricingPlan",
    "WebhookSubscription",
    "McpTool",
  ];
  expect(Object.keys(components.schemas ?? {})).toEqual(expect.arrayContaining(resources));
});

test("there is a webhook for every public event", async () => {
  const { webhooks } = await fetchDocument();
  expect(Object.keys(webhooks)).toEqual(Object.keys(publicEvents));
});

test("files, the recipients of a broadcast and the simulator's controls are in it", async () => {
  const { paths } = await fetchDocument();
  const routes = [
    "/files/{organization}/{name}",
    "/v1/broadcasts/{id}/recipients.csv",
    "/v1/events/stream",
    "/v1/openapi.json",
    "/simulator/inbound",
    "/simulator/phones/{number}/messages",
    "/simulator/phones/{number}/read",
    "/simulator/faults",
    "/simulator/templates",
    "/simulator/payments/{order_id}/pay",
    "/simulator/payments/{order_id}/refund",
  ];
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(routes));
});

test("it is made without a running service", () => {
  expect(readDocument().webhooks).not.toEqual({});
});

test("a repeated request has every header of the documented response", async () => {
  const { paths, components } = await fetchDocument();
  const repeat = () =>
    app.fetch("/v1/contacts", {
      method: "POST",
      json: { phone_number: "+14155550123" },
      headers: { "idempotency-key": "one" },
    });
  await repeat();
  const answer = await repeat();
  const documented = Object.keys(Object(paths["/v1/contacts"]?.post?.responses[answer.status]?.headers));
  expect(documented).toContain("Idempotency-Replayed");
  expect(documented.filter((name) => !answer.headers.has(name))).toEqual([]);
  const sent = [...answer.headers.keys()].map((name) => name.toLowerCase());
  const known = Object.keys(components.headers ?? {}).filter((name) => sent.includes(name.toLowerCase()));
  expect(documented.sort()).toEqual(known.sort());
});

test("a client that has the document gets 304 without a body", async () => {
  const first = await app.fetch("/v1/openapi.json", { key: null });
  const etag = first.headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[\w-]{43}"$/);
  for (const held of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const second = await app.fetch("/v1/openapi.json", { key: null, headers: { "if-none-match": held } });
    expect([held, second.status, await second.text()]).toEqual([held, 304, ""]);
    expect(second.headers.get("etag")).toBe(etag);
  }
  const other = await app.fetch("/v1/openapi.json", { key: null, headers: { "if-none-match": '"other"' } });
  expect(other.status).toBe(200);
});
