/** The record of acts: what is in it, and who may read it. */
import { describe, expect, test } from "vitest";
import { activity } from "../tools/activity.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import type { InputOf } from "../tools/contract/index.ts";
import { messages } from "../tools/messages/index.ts";
import { operator } from "../tools/operator.ts";
import { payments } from "../tools/payments.ts";
import { uploads } from "../tools/uploads.ts";
import { operatorKey, ownerEmail, ownerKey, ownerPassword, useTestApp } from "./support/app.ts";
import { connectAssistant } from "./support/assistant.ts";
import { expectFailure } from "./support/expect-failure.ts";

const app = useTestApp();

async function list(filter: InputOf<typeof activity.list_activity> = {}, key = ownerKey) {
  return (await app.call(activity.list_activity, filter, { key })).data;
}

/** The acts that `work` has added, the oldest first. */
async function actsOf(work: () => Promise<unknown>) {
  const [last] = await list({ per_page: 1 });
  await work();
  const acts = await list({ per_page: 100 });
  const index = acts.findIndex(({ id }) => id === last?.id);
  return acts.slice(0, index === -1 ? undefined : index).reverse();
}

let numbers = 0;
const newNumber = () => `+1415555${4000 + numbers++}`;

describe("a write", () => {
  test("leaves one act with its caller, its ids and no text", async () => {
    const { data: contact } = await app.call(contacts.create_contact, { phone_number: newNumber() });
    const to = contact.id;
    const input = { to, type: "text", text: { body: "a private text" } } as const;
    const acts = await actsOf(() => app.call(messages.send_message, input));
    expect(acts).toEqual([
      {
        id: expect.stringMatching(/^act_/),
        created_at: app.now().toISOString(),
        by: { type: "api_key", id: expect.stringMatching(/^key_/), name: expect.any(String) },
        session_id: null,
        operation: "send_message",
        tool: null,
        arguments: { to, type: "text", text: { body: "…" } },
        outcome: "done",
        status: 201,
        error_code: null,
        budget: null,
        duration_ms: expect.any(Number),
        ids: expect.arrayContaining([to, expect.stringMatching(/^msg_/), expect.stringMatching(/^conv_/)]),
      },
    ]);
  });

  test("that is repeated with its idempotency key leaves no second act", async () => {
    const send = () =>
      app.call(contacts.create_contact, { phone_number: "+14155554999" }, { idempotencyKey: "once" });
    expect(await actsOf(send)).toHaveLength(1);
    expect(await actsOf(send)).toEqual([]);
  });

  test("that shares a transaction with others leaves an act of its own", async () => {
    const texts = Array.from({ length: 20 }, newNumber);
    const send = (to: string) =>
      app.call(messages.send_message, { to, type: "text", text: { body: "hello" } }, { idempotencyKey: to });
    const acts = await actsOf(() => Promise.all(texts.map(send)));
    expect(acts.map(({ operation, outcome }) => [operation, outcome])).toEqual(
      texts.map(() => ["send_message", "done"]),
    );
    const sent = acts.flatMap(({ ids }) => ids.filter((id) => id.startsWith("msg_")));
    expect(new Set(sent).size).toBe(texts.length);
  });

  test("that is rejected leaves a refusal, and no success", async () => {
    const { data } = await app.call(apiKeys.create_api_key, { name: "reader", scopes: ["contacts:read"] });
    const post = (json: object, key = ownerKey) => app.fetch("/v1/contacts", { method: "POST", json, key });
    const phone_number = newNumber();
    await post({ phone_number });
    const acts = await actsOf(async () => {
      await post({ phone_number });
      await post({ phone_number: newNumber() }, data.secret_key);
      await post({ phone_number: 7, unknown: "x" });
    });
    expect(acts).toMatchObject([
      { outcome: "refused", status: 409, error_code: "contact_exists", arguments: { phone_number: "…" } },
      { outcome: "refused", status: 403, error_code: "insufficient_scope", by: { name: "reader" } },
      { outcome: "refused", status: 400, arguments: { phone_number: "…" } },
    ]);
    expect(await list({ outcome: "refused", by: data.id })).toHaveLength(1);
  });
});

test("a write with an idempotency key that is rejected leaves one refusal, also if it is repeated", async () => {
  const phone_number = newNumber();
  await app.call(contacts.create_contact, { phone_number });
  const post = () =>
    app.fetch("/v1/contacts", {
      method: "POST",
      json: { phone_number },
      headers: { "idempotency-key": phone_number },
    });
  expect(await actsOf(post)).toMatchObject([{ outcome: "refused", error_code: "contact_exists" }]);
  expect(await actsOf(post)).toEqual([]);
});

test("a call to a third party and an upload leave one act each", async () => {
  const acts = await actsOf(async () => {
    await app.call(payments.create_payment_order, { amount: 10 }, { idempotencyKey: "order" });
    const content_base64 = Buffer.from("a,b\n1,2\n").toString("base64");
    await app.call(uploads.upload_file, { content_base64, file_name: "private.csv" });
  });
  expect(acts).toMatchObject([
    { operation: "create_payment_order", outcome: "done", arguments: { amount: 10 } },
    // The client sends the content and the name as a part of a form.
    { operation: "upload_file", outcome: "done", arguments: {}, ids: [expect.stringMatching(/^upl_/)] },
  ]);
});

test("a call through MCP leaves an act with its tool, also one that reads", async () => {
  await using assistant = await connectAssistant(app, ownerKey);
  const phone_number = newNumber();
  const acts = await actsOf(async () => {
    await assistant.call("create_contact", { phone_number });
    await assistant.call("list_contacts", {});
    await assistant.expectRejection("create_contact", { phone_number });
  });
  expect(acts).toMatchObject([
    { tool: "create_contact", operation: "create_contact", outcome: "done" },
    { tool: "list_contacts", operation: "list_contacts", outcome: "done" },
    { tool: "create_contact", outcome: "refused", error_code: "contact_exists" },
  ]);
});

test("a sign-in leaves an act with its session, and a failed one an act without", async () => {
  const signIn = (password: string) =>
    app.fetch("/v1/auth/login", { method: "POST", key: null, json: { email: ownerEmail, password } });
  const acts = await actsOf(async () => {
    await signIn("wrong password");
    await signIn(ownerPassword);
  });
  expect(acts).toMatchObject([
    { operation: "login", outcome: "refused", status: 401, error_code: "login_failed", session_id: null },
    { operation: "login", outcome: "done", session_id: expect.stringMatching(/^ses_/) },
  ]);
  const [, { by, session_id }] = acts as [unknown, (typeof acts)[number]];
  expect(by.type).toBe("user");
  const { data } = await app.call(auth.login, { email: ownerEmail, password: ownerPassword });
  const key = data.access_token;
  await app.call(contacts.create_contact, { phone_number: newNumber() }, { key });
  const ofSession = await list({ by: by.id, operation: "create_contact" });
  expect(ofSession).toMatchObject([{ by, session_id: expect.stringMatching(/^ses_/) }]);
  expect(ofSession[0]?.session_id).not.toBe(session_id);
  expect(await list({ session_id: session_id ?? "" })).toHaveLength(1);
});

test("an act of the operator is in the record of the organization that it is about", async () => {
  const { data } = await app.call(auth.whoami, {});
  const { id } = data.organization;
  const limits = (await app.call(operator.find_organization, { id }, { key: operatorKey })).data.limits;
  const acts = await actsOf(() =>
    app.call(operator.update_organization_limits, { id, limits }, { key: operatorKey }),
  );
  expect(acts).toMatchObject([
    { operation: "update_organization_limits", by: { type: "operator" }, outcome: "done", ids: [id] },
  ]);
});

test("the erasure of a contact takes its arguments and its ids out of the record, and nothing else", async () => {
  const { data: contact } = await app.call(contacts.create_contact, { phone_number: newNumber() });
  const { id: contact_id } = contact;
  await app.call(contacts.update_contact, { id: contact_id, name: "Ada" });
  const before = await list({ contact_id });
  expect(before.map(({ operation }) => operation)).toEqual(["update_contact", "create_contact"]);
  await app.call(contacts.delete_contact, { id: contact_id });
  await app.runDueJobs();
  expect(await list({ contact_id })).toEqual([]);
  const after = (await list({ per_page: 100 })).filter(({ id }) => before.some((act) => act.id === id));
  expect(after).toEqual(
    before.map((act) => ({ ...act, arguments: null, ids: act.ids.filter((id) => id !== contact_id) })),
  );
});

test("reads over REST are counted by credential, operation and minute", async () => {
  await app.advanceTime(60_000);
  const minute = new Date(Math.floor(app.now().getTime() / 60_000) * 60_000).toISOString();
  for (let n = 0; n < 3; n += 1) {
    await app.call(contacts.list_contacts, {});
  }
  const filter = { operation: "list_contacts", since: minute };
  expect((await app.call(activity.list_read_counts, filter)).data).toMatchObject([{ minute, count: 3 }]);
  await app.call(contacts.list_contacts, {});
  expect((await app.call(activity.list_read_counts, filter)).data).toMatchObject([{ minute, count: 4 }]);
});

test("the list has pages, and its CSV file all of it", async () => {
  const all = await list({ per_page: 100 });
  const first = await app.call(activity.list_activity, { per_page: 3 });
  expect(first.data).toEqual(all.slice(0, 3));
  const second = await app.call(activity.list_activity, { per_page: 3, after: first.meta.cursor ?? "" });
  expect(second.data).toEqual(all.slice(3, 6));
  const oldest = await app.call(activity.list_activity, { per_page: 100 });
  expect(oldest.meta.cursor).toBeNull();

  const answer = await app.fetch("/v1/activity.csv?operation=send_message&outcome=done");
  const lines = (await answer.text()).trim().split("\r\n");
  expect(lines[0]).toBe(
    "id,created_at,by_type,by_id,by_name,session_id,operation,tool,arguments,outcome,status,error_code,duration_ms,ids",
  );
  expect(lines).toHaveLength(1 + all.filter(({ operation }) => operation === "send_message").length);
  expect((await app.fetch("/v1/activity.csv?outcome=maybe")).status).toBe(400);
});

test("an operation that does not exist, and a name in place of an id, are rejected", async () => {
  const operation = "send_mesage";
  const failures = await Promise.all([
    expectFailure(app.call(activity.list_activity, { operation })),
    expectFailure(app.call(activity.list_read_counts, { operation })),
  ]);
  for (const failure of failures) {
    expect(failure).toMatchObject({
      status: 400,
      message: expect.stringContaining("operation: No operation has this name. Did you mean send_message?"),
      error: { param: "operation" },
    });
  }
  expect((await app.fetch(`/v1/activity.csv?operation=${operation}`)).status).toBe(400);
  // A command on the machine.
  expect((await app.call(activity.list_activity, { operation: "release" })).data).toEqual([]);
  expect(await expectFailure(app.call(activity.list_activity, { by: "Assistant" }))).toMatchObject({
    status: 400,
    message: expect.stringContaining("by: Send the id of an API key or a user, not its name."),
  });
  // Of commands on the machine, of a deleted key and of the service itself.
  for (const filter of [{ operation: "create-key" }, { by: "key_deleted" }, { by: "system" }]) {
    expect(await list(filter)).toEqual([]);
  }
});
