/** What is true of every operation that is built: proved once, over them all. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operationsOf } from "../src/platform/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import {
  allScopes,
  describeRule,
  type JsonSchema,
  type Operation,
  pathFields,
  type ScopeRule,
  scopesOf,
  toJsonSchema,
} from "../tools/contract/index.ts";
import { catalogue, type OperationName } from "../tools/index.ts";
import { type House, openHouse } from "./support/house.ts";
import { moveIn, type Neighbour } from "./support/neighbour.ts";

const operations = Object.entries(operationsOf()) as [OperationName, Operation][];
const guarded = operations.filter(([, { credential }]) => credential !== "none");

let house: House;
let neighbour: Neighbour;
beforeAll(async () => {
  house = await openHouse();
  neighbour = await moveIn(house);
});
afterAll(() => house[Symbol.asyncDispose]());

/** Calls an operation with its path filled by `fields` (made-up ones where there are none). */
function request({ method, path }: Operation, fields: Record<string, unknown> = {}, key?: string | null) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(fields[name] ?? `no_such_${name}`));
  const rest = Object.entries(fields).filter(([name]) => !pathFields(path).includes(name));
  const query =
    method === "GET" || method === "DELETE"
      ? `?${new URLSearchParams(rest.map(([name, value]): [string, string] => [name, String(value)]))}`
      : "";
  const json = query === "" ? Object.fromEntries(rest) : undefined;
  return house.fetch(filled + query, {
    method,
    ...(json ? { json } : {}),
    ...(key === undefined ? {} : { key }),
  });
}

describe.each(guarded)("%s", (_name, operation) => {
  test("refuses a call without a credential", async () => {
    const answer = await request(operation, {}, null);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toContain("Bearer");
    expect(await answer.json()).toMatchObject({
      error: { type: "authentication", code: "credential_missing" },
    });
  });

  test("refuses a made-up credential", async () => {
    const answer = await request(operation, {}, "sk_live_made_up");
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: { code: "credential_invalid" } });
  });

  test.runIf(operation.scope !== null)("refuses a key that lacks its scope, and names it", async () => {
    const answer = await request(operation, {}, await keyWithout(operation.scope));
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      error: {
        type: "permission",
        code: "insufficient_scope",
        required_scope: operation.scope && describeRule(operation.scope),
        required_scopes: scopesOf(operation.scope),
      },
    });
  });
});

const missing = operations.flatMap(([name, operation]) => {
  const required = Object.entries(operation.input.shape).filter(
    ([, field]) => !field.safeParse(undefined).success,
  );
  const sent = required
    .map(([field]) => field)
    .filter((field) => !pathFields(operation.path).includes(field));
  return sent.length > 0 ? [[name, operation, sent] as const] : [];
});

test.each(missing)("%s refuses an empty input field by field", async (_name, operation, required) => {
  const answer = await request(operation);
  expect(answer.status).toBe(400);
  const { error } = (await answer.json()) as { error: { details: { field: string; code: string }[] } };
  const named = error.details.filter(({ code }) => code === "missing").map(({ field }) => field);
  expect(named.sort()).toEqual([...required].sort());
});

/** Whose thing an id in a path is, by the part of the path before it. */
const things: Readonly<Record<string, keyof Neighbour>> = {
  contacts: "contact_id",
  conversations: "conversation_id",
  messages: "message_id",
  "api-keys": "api_key_id",
  "webhook-subscriptions": "webhook_id",
  deliveries: "delivery_id",
  imports: "import_id",
  uploads: "upload_id",
  users: "user_id",
  inboxes: "inbox_id",
  "quick-replies": "quick_reply_id",
  teams: "team_id",
  members: "member_id",
  policies: "policy_id",
};

/** What an input needs beside its required fields: one of several. */
const chosen: Readonly<Partial<Record<OperationName, object>>> = {
  assign_conversation: { assigned_to: "x" },
};

/** Operations that take an id: in the path, or by the name of the thing. */
const foreign = operations.filter(([, { path, input }]) => idsOf(path, input).length > 0);

/** Each id field with the kind of thing that it names. */
function idsOf(path: string, input: Operation["input"]): [field: string, thing: keyof Neighbour][] {
  const inPath = [...path.matchAll(/([\w-]+)\/\{(\w+)\}/g)].map(([, before = "", field = ""]) => {
    const thing = things[before];
    if (!thing) {
      throw new Error(`Whose id is ${field} in ${path}? Say it in "things".`);
    }
    return [field, thing] as [string, keyof Neighbour];
  });
  const required = toJsonSchema(input, "input").required as string[] | undefined;
  const named = Object.values(things).filter(
    (thing) => required?.includes(thing) && !path.includes(`{${thing}}`),
  );
  return [...inPath, ...named.map((thing) => [thing, thing] as [string, keyof Neighbour])];
}

test.each(foreign)("%s answers a neighbour's id as it answers none at all", async (name, operation) => {
  const ids = idsOf(operation.path, operation.input);
  const least = sample(toJsonSchema(operation.input, "input")) as Record<string, unknown>;
  const rest = { ...least, ...chosen[name] };
  const theirs = Object.fromEntries(ids.map(([field, thing]) => [field, neighbour[thing]]));
  const none = Object.fromEntries(ids.map(([field, thing]) => [field, `x_${neighbour[thing]}`]));
  const found = await request(operation, { ...rest, ...theirs });
  const unknown = await request(operation, { ...rest, ...none });
  expect(found.status).toBe(404);
  expect(withoutRequestId(await found.json())).toEqual(withoutRequestId(await unknown.json()));
});

/** The least input that a schema takes. */
function sample(schema: JsonSchema): unknown {
  const samples: Record<string, () => unknown> = {
    object: () => {
      const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
      const required = (schema.required ?? []) as string[];
      return Object.fromEntries(required.map((name) => [name, sample(properties[name] ?? {})]));
    },
    array: () => [sample((schema.items ?? {}) as JsonSchema)],
    string: () =>
      (schema.enum as string[] | undefined)?.[0] ??
      (schema.format === "date-time" ? "2030-01-01T00:00:00Z" : "x"),
    integer: () => schema.minimum ?? 1,
    number: () => schema.minimum ?? 1,
    boolean: () => true,
  };
  return samples[String(schema.type)]?.();
}

test("a neighbour's things are still there, untouched", async () => {
  const answer = await request(catalogue.get_contact, { id: neighbour.contact_id }, neighbour.key);
  expect(await answer.json()).toMatchObject({
    data: { name: null, organization_id: neighbour.organization_id },
  });
});

test.each(operations)("%s stands in OpenAPI", async (_name, { method, path }) => {
  const document = (await (await house.fetch("/v1/openapi.json")).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  expect(document.paths[path]?.[method.toLowerCase()]).toBeDefined();
});

test.each(operations)("%s refuses other methods and bodies in the one envelope", async (_name, operation) => {
  const answer = await house.fetch(operation.path.replace(/\{\w+\}/g, "x"), {
    method: operation.method === "GET" ? "DELETE" : operation.method,
    headers: { "content-type": "text/plain" },
    ...(operation.method === "GET" ? {} : { body: "hello" }),
  });
  expect([404, 405, 415, 400]).toContain(answer.status);
  expect(await answer.json()).toMatchObject({
    error: { code: expect.any(String), request_id: expect.any(String) },
  });
});

const keys = new Map<string, string>();

/** A key that holds none of the scopes that a rule names. */
async function keyWithout(rule: ScopeRule | null): Promise<string> {
  const lacking = scopesOf(rule);
  const known = keys.get(lacking.join());
  if (known !== undefined) {
    return known;
  }
  const scopes = allScopes.filter((scope) => !lacking.includes(scope) && !scope.startsWith("tokens:"));
  const { data } = await house.call(apiKeys.create_api_key, { name: "narrow", scopes });
  keys.set(lacking.join(), data.secret_key);
  return data.secret_key;
}

function withoutRequestId(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body, (key, value) => (key === "request_id" ? undefined : value)));
}
