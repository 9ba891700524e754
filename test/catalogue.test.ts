/** Rules for every implemented operation, tested over all of them. */
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
import type { OperationName } from "../tools/index.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { readDocument } from "./support/openapi.ts";
import { createOtherTenant, type OtherTenant, readTenantRows } from "./support/other-tenant.ts";
import { trustedProxyEnv } from "./support/users.ts";

const operations = Object.entries(operationsOf()) as [OperationName, Operation][];
const guarded = operations.filter(([, { credential }]) => credential !== "none");

let app: TestApp;
let otherTenant: OtherTenant;
beforeAll(async () => {
  app = await startTestApp({ env: trustedProxyEnv });
  otherTenant = await createOtherTenant(app);
});
afterAll(() => app[Symbol.asyncDispose]());

const document = readDocument();

let requests = 0;

/**
 * Calls an operation with its path filled by `fields` (made-up ones where there are none), each time from
 * another address, because unknown credentials are limited by address. The OpenAPI document must have the
 * status of every answer.
 */
async function request(operation: Operation, fields: Record<string, unknown> = {}, key?: string | null) {
  const { method, path } = operation;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(fields[name] ?? `no_such_${name}`));
  const rest = Object.entries(fields).filter(([name]) => !pathFields(path).includes(name));
  const query =
    method === "GET" || method === "DELETE"
      ? `?${new URLSearchParams(rest.map(([name, value]): [string, string] => [name, String(value)]))}`
      : "";
  const json = query === "" ? Object.fromEntries(rest) : undefined;
  requests += 1;
  const answer = await app.fetch(filled + query, {
    method,
    headers: { "x-forwarded-for": `192.0.${requests >> 8}.${requests & 255}` },
    ...(json ? { json } : {}),
    ...(key === undefined ? await personKey(operation) : { key }),
  });
  const { responses } = document.paths[path]?.[method.toLowerCase()] ?? {};
  expect(Object.keys(responses ?? {})).toContain(String(answer.status));
  return answer;
}

describe.each(guarded)("%s", (_name, operation) => {
  test("rejects a call without a credential", async () => {
    const answer = await request(operation, {}, null);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toContain("Bearer");
    expect(await answer.json()).toMatchObject({
      error: { type: "authentication", code: "credential_missing" },
    });
  });

  test("rejects an unknown credential", async () => {
    const answer = await request(operation, {}, "sk_live_made_up");
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: { code: "credential_invalid" } });
  });

  test.runIf(operation.scope !== null)("rejects a key without its scope, and names the scope", async () => {
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

test("no operation names a scope twice", () => {
  const repeating = guarded.filter(([, { scope }]) => new Set(scopesOf(scope)).size < scopesOf(scope).length);
  expect(repeating.map(([name]) => name)).toEqual([]);
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

test.each(missing)("%s rejects an empty input field by field", async (_name, operation, required) => {
  const answer = await request(operation);
  expect(answer.status).toBe(400);
  const { error } = (await answer.json()) as { error: { details: { field: string; code: string }[] } };
  const named = error.details.filter(({ code }) => code === "missing").map(({ field }) => field);
  expect(named.sort()).toEqual([...required].sort());
});

/** The resource of an id in a path, by the preceding segment. */
const things: Readonly<Record<string, keyof OtherTenant>> = {
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
  templates: "template_id",
  cohorts: "cohort_id",
  broadcasts: "broadcast_id",
  flows: "flow_id",
  runs: "run_id",
  documents: "document_id",
  "qa-pairs": "qa_pair_id",
  plans: "plan_id",
  "console-sessions": "console_session_id",
};

/** Segments before a name that an organization chooses: another organization may use the same name. */
const namespaces: ReadonlySet<string> = new Set(["cohort-attributes"]);

/** Input for operations that require one of several optional fields, or a phone number. */
const chosen: Readonly<Partial<Record<OperationName, object>>> = {
  assign_conversation: { assigned_to: "x" },
  tag_contact: { add: ["x"] },
  test_broadcast: { to: "+14155550123" },
  set_api_key_rules: { rules: null },
  react_to_message: { emoji: "👍" },
};

/** Operations that take an id: in the path, or by the name of the thing. */
const foreign = operations.filter(([, { path, input }]) => idsOf(path, input).length > 0);

/** Each id field with its resource. */
function idsOf(path: string, input: Operation["input"]): [field: string, thing: keyof OtherTenant][] {
  const inPath = [...path.matchAll(/([\w-]+)\/\{(\w+)\}/g)].flatMap(
    ([, before = "", field = ""]): [string, keyof OtherTenant][] => {
      const thing = things[before];
      if (!thing && !namespaces.has(before)) {
        throw new Error(`Add the resource of ${field} in ${path} to "things".`);
      }
      return thing ? [[field, thing]] : [];
    },
  );
  const required = toJsonSchema(input, "input").required as string[] | undefined;
  const named = Object.values(things).filter(
    (thing) => required?.includes(thing) && !path.includes(`{${thing}}`),
  );
  return [...inPath, ...named.map((thing) => [thing, thing] as [string, keyof OtherTenant])];
}

test.each(foreign)(
  "%s answers 404 for another tenant's id, names its field, and changes nothing there",
  async (name, operation) => {
    const ids = idsOf(operation.path, operation.input);
    const least = sample(toJsonSchema(operation.input, "input")) as Record<string, unknown>;
    const rest = { ...least, ...chosen[name] };
    const theirs = Object.fromEntries(ids.map(([field, thing]) => [field, otherTenant[thing]]));
    const none = Object.fromEntries(ids.map(([field, thing]) => [field, `x_${otherTenant[thing]}`]));
    const before = await readTenantRows(app, otherTenant.organization_id);
    const known = await request(operation, { ...rest, ...theirs });
    const unknown = await request(operation, { ...rest, ...none });
    expect(known.status).toBe(404);
    const failure = (await known.json()) as { error: { param?: string } };
    expect(ids.map(([field]) => field)).toContain(failure.error.param);
    expect(withoutRequestId(failure)).toEqual(withoutRequestId(await unknown.json()));
    expect(await readTenantRows(app, otherTenant.organization_id)).toEqual(before);
  },
);

test("the other tenant has a row of every resource whose id is called", async () => {
  const rows = JSON.stringify(await readTenantRows(app, otherTenant.organization_id));
  const called = new Set(
    foreign.flatMap(([, { path, input }]) => idsOf(path, input).map(([, thing]) => thing)),
  );
  expect([...called].filter((thing) => !rows.includes(JSON.stringify(otherTenant[thing])))).toEqual([]);
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

test.each(operations)(
  "%s rejects other methods and bodies in the common envelope",
  async (_name, operation) => {
    const path = withoutNames(operation.path);
    // No route has both methods but those of one thing, and this one does not exist.
    const isDeletable = operations.some(
      ([, one]) => one.method === "DELETE" && withoutNames(one.path) === path,
    );
    const isRead = operation.method === "GET";
    const answer = await app.fetch(path, {
      method: isRead ? "DELETE" : operation.method,
      ...(isRead ? {} : { headers: { "content-type": "text/plain" }, body: "hello" }),
    });
    const status = isDeletable ? 404 : 405;
    expect(answer.status).toBe(isRead ? status : 415);
    expect(await answer.json()).toMatchObject({
      error: { code: expect.stringMatching(/^[a-z_]+$/), request_id: answer.headers.get("x-request-id") },
    });
  },
);

/** With an id that does not exist in the place of each name. */
function withoutNames(path: string): string {
  return path.replace(/\{\w+\}/g, "x");
}

/** The owner's access token, for an operation that rejects the owner's key. */
async function personKey({ credential }: Operation): Promise<{ key?: string }> {
  return credential === "person" ? { key: await app.signOwner() } : {};
}

const keys = new Map<string, string>();

/** A key that holds none of the scopes that a rule names. */
async function keyWithout(rule: ScopeRule | null): Promise<string> {
  const lacking = scopesOf(rule);
  const known = keys.get(lacking.join());
  if (known !== undefined) {
    return known;
  }
  const scopes = allScopes.filter((scope) => !lacking.includes(scope) && !scope.startsWith("tokens:"));
  const { data } = await app.call(apiKeys.create_api_key, { name: "narrow", scopes });
  keys.set(lacking.join(), data.secret_key);
  return data.secret_key;
}

function withoutRequestId(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body, (key, value) => (key === "request_id" ? undefined : value)));
}
