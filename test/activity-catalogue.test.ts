/** The record of acts, derived over the catalogue: each write leaves one act, and no act holds a secret. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { redactInput } from "../src/platform/foundation/kernel/call/acts/redact.ts";
import { operationsOf } from "../src/platform/index.ts";
import { activity } from "../tools/activity.ts";
import { type JsonSchema, type Operation, toJsonSchema } from "../tools/contract/index.ts";
import { operator } from "../tools/operator.ts";
import { requestExamples } from "../tools/request-examples.ts";
import { operatorKey, ownerKey, useTestApp } from "./support/app.ts";
import { createOtherTenant } from "./support/other-tenant.ts";

const app = useTestApp();

const marker = "Zq7Marker";
const operations = Object.entries(operationsOf(undefined, true));
const writes = operations.filter(
  ([, { effect, method, credential }]) =>
    effect !== "read" && effect !== "delegated" && method !== "GET" && credential !== "none",
);

async function readActs() {
  await app.call(activity.list_activity, {}); // so that all acts are written
  // Without the name of who acted, which update_profile changes.
  const { rows } = await sql<{ operation: string; status: number; text: string }>`
    select operation, status, (to_jsonb(acts) - 'agent_name')::text as text from acts order by id
  `.execute(app.server.database.queries);
  return rows;
}

/** Values of the schema with every member, one for each option. Every text is the marker. */
function samplesOf(schema: JsonSchema): unknown[] {
  const options = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (options) {
    return options.flatMap(samplesOf);
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object") {
    const members = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
    const samples = members.map(([name, member]) => [name, samplesOf(member)] as const);
    const count = Math.max(1, ...samples.map(([, values]) => values.length));
    return Array.from({ length: count }, (_, n) => ({
      [marker]: marker,
      ...Object.fromEntries(samples.map(([name, values]) => [name, values[n % values.length]])),
    }));
  }
  if (type === "array") {
    return samplesOf((schema.items ?? {}) as JsonSchema).map((item) => [item]);
  }
  const known = (schema.enum as unknown[] | undefined)?.[0] ?? schema.const;
  const scalars: Record<string, unknown> = { integer: 1, number: 1, boolean: true, null: null };
  return [known ?? scalars[String(type)] ?? marker];
}

const inputsOf = ({ input }: Operation) => samplesOf(toJsonSchema(input, "input"));

describe("an input is recorded without its texts:", () => {
  test.each(operations)("%s", (_name, operation) => {
    const inputs = inputsOf(operation);
    expect(inputs.length).toBeGreaterThan(0);
    const recorded = inputs.map((input) => redactInput(operation, input));
    expect(JSON.stringify(recorded)).not.toContain(marker);
    // Every field that was sent is named, and no other.
    const names = Object.keys(operation.input.shape);
    for (const one of recorded) {
      expect(names).toEqual(expect.arrayContaining(Object.keys(one as object)));
    }
  });
});

test("a credential is never recorded, whatever it looks like", () => {
  const id = "usr_01m7zc7d7bf9qbkz12jfyy9z78";
  const { login, refresh, create_webhook } = Object.fromEntries(operations);
  const redact = (operation: Operation | undefined, input: object) =>
    operation && redactInput(operation, input);
  expect(redact(login, { email: id, password: id })).toEqual({ email: id, password: "…" });
  expect(redact(refresh, { refresh_token: id })).toEqual({ refresh_token: "…" });
  expect(redact(create_webhook, { url: "https://example.com/?key=1", other: 1 })).toEqual({ url: "…" });
});

describe("each write leaves exactly one act, whether it is done or refused:", () => {
  test.each(writes)("%s", async (name, operation) => {
    const example = (requestExamples as Record<string, object | undefined>)[name];
    const [first] = inputsOf(operation);
    for (const json of [first as object, { ...example }]) {
      const before = (await readActs()).length;
      const isOperator = operation.credential === "operator";
      const key = isOperator
        ? operatorKey
        : operation.credential === "any"
          ? ownerKey
          : await app.signOwner();
      const path = operation.path.replace(/\{\w+\}/g, "con_01m7zc7d7bf9qbkz12jfyy9z78");
      const answer = await app.fetch(path, {
        method: operation.method,
        key: null,
        headers: { authorization: `Bearer ${key}` },
        ...(operation.method === "DELETE" ? {} : { json }),
      });
      const acts = (await readActs()).slice(before);
      expect(acts.map((act) => [act.operation, act.status])).toEqual([[name, answer.status]]);
      expect(acts[0]?.text).not.toContain(marker);
    }
  });
});

test("an organization sees no act of another one, and the operator sees only its own", async () => {
  const theirs = await createOtherTenant(app);
  const own = await app.call(activity.list_activity, { per_page: 100 });
  expect(JSON.stringify(own)).not.toContain(theirs.contact_id);
  const filter = { contact_id: theirs.contact_id };
  expect((await app.call(activity.list_activity, filter)).data).toEqual([]);
  const { data } = await app.call(activity.list_activity, filter, { key: theirs.key });
  expect(data.length).toBeGreaterThan(0);
  expect(await (await app.fetch("/v1/activity.csv")).text()).not.toContain(theirs.contact_id);

  const ofOperator = await app.call(operator.list_operator_activity, {}, { key: operatorKey });
  expect(new Set(ofOperator.data.map(({ by }) => by.type))).toEqual(new Set(["operator"]));
  expect(ofOperator.data[0]).toMatchObject({ operation: "create_organization", outcome: "done" });
});
