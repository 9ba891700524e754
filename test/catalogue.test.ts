/** What is true of every operation that is built: proved once, over them all. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operationsOf } from "../src/platform/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { catalogue, type OperationName } from "../tools/index.ts";
import { type Operation, pathFields } from "../tools/operation.ts";
import { allScopes, describeRule, type ScopeRule, scopesOf } from "../tools/scopes.ts";
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
function request({ method, path }: Operation, fields: Record<string, string> = {}, key?: string | null) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => fields[name] ?? `no_such_${name}`);
  const rest = Object.entries(fields).filter(([name]) => !pathFields(path).includes(name));
  const query = method === "GET" || method === "DELETE" ? `?${new URLSearchParams(rest)}` : "";
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

/** Every operation that takes an id, with the neighbour's. */
const foreign: Partial<Record<OperationName, (their: Neighbour) => Record<string, string>>> = {
  get_contact: (their) => ({ id: their.contact_id }),
  update_contact: (their) => ({ id: their.contact_id, name: "mine" }),
  delete_contact: (their) => ({ id: their.contact_id }),
  get_conversation: (their) => ({ id: their.conversation_id }),
  list_messages: (their) => ({ conversation_id: their.conversation_id }),
  get_message: (their) => ({ conversation_id: their.conversation_id, message_id: their.message_id }),
  delete_api_key: (their) => ({ id: their.api_key_id }),
};

test("every path with an id is tried with a neighbour's", () => {
  const withId = operations.filter(([, { path }]) => pathFields(path).length > 0).map(([name]) => name);
  expect(Object.keys(foreign)).toEqual(expect.arrayContaining(withId));
});

test.each(Object.entries(foreign))(
  "%s answers a neighbour's id as it answers none at all",
  async (name, fields) => {
    const operation = catalogue[name as OperationName];
    const theirs = fields(neighbour);
    const none = Object.fromEntries(
      Object.entries(theirs).map(([field, id]) => [field, /id$/.test(field) ? `x_${id}` : id]),
    );
    const [found, unknown] = [await request(operation, theirs), await request(operation, none)];
    expect(found.status).toBe(404);
    expect(withoutRequestId(await found.json())).toEqual(withoutRequestId(await unknown.json()));
  },
);

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
