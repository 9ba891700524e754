/** `connect_inbox`: the set-up of an app and a number at Meta, with each step wrong once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defaults } from "../emulator/index.ts";
import { seal } from "../src/platform/foundation/sealing/index.ts";
import { activity } from "../tools/activity.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { plans } from "../tools/plans.ts";
import type { TestApp } from "./support/app.ts";
import { connectableAccount as account, startConnectableWhatsApp } from "./support/connectable-whatsapp.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { startReceiver } from "./support/receiver.ts";
import { createWhatsAppInbox, type Inbox } from "./support/whatsapp.ts";

const { app_id, waba_id, phone_number_id, phone_number } = defaults;
const pin = "729461";
const names = ["app", "token", "number", "account", "webhook", "subscription", "registration"];
const shown: string[] = [];
const write = (...parts: unknown[]) => {
  shown.push(
    parts.map((part) => `${JSON.stringify(part)} ${part instanceof Error ? part.stack : ""}`).join(" "),
  );
};

let whatsApp: Awaited<ReturnType<typeof startConnectableWhatsApp>>;
let app: TestApp;
let inbox: Inbox;

beforeAll(async () => {
  whatsApp = await startConnectableWhatsApp({
    log: { debug: write, info: write, warn: write, error: write },
  });
  ({ app } = whatsApp);
  inbox = await createWhatsAppInbox(app, { phone_number: `+${phone_number}`, credentials: account });
});
afterAll(() => whatsApp[Symbol.asyncDispose]());

const control = (path: string, body: object) => whatsApp.control(path, body);

/** Stores credentials that Meta has not checked, as after a change there. */
async function storeAccount(changes: Partial<typeof account>) {
  const { access_token, app_secret, verify_token, ...ids } = { ...account, ...changes };
  const { queries } = app.server.database;
  const { value: secret } = await queries
    .selectFrom("settings")
    .select("value")
    .where("name", "=", "secret")
    .executeTakeFirstOrThrow();
  const text = JSON.stringify({ access_token, app_secret, verify_token });
  await queries
    .updateTable("inbox_accounts")
    .set({ ...ids, secrets: seal({ secret }, text) })
    .where("inbox_id", "=", inbox.id)
    .execute();
}

beforeEach(async () => {
  whatsApp.setPublic(true);
  await control("/reset", {});
  await storeAccount({});
});

interface Step {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
  readonly fix: string | null;
}

async function connect(input: { readonly pin?: string; readonly replace_callback?: boolean } = {}) {
  const { data } = await app.call(inboxes.connect_inbox, { id: inbox.id, ...input });
  shown.push(JSON.stringify(data));
  return { ...data, steps: data.steps as readonly Step[] };
}

type Connection = Awaited<ReturnType<typeof connect>>;
const statesOf = ({ steps }: Connection) => Object.fromEntries(steps.map(({ name, state }) => [name, state]));
const stepOf = ({ steps }: Connection, wanted: string) => steps.find(({ name }) => name === wanted);

test("all steps are made, and a repeated call finds them", async () => {
  await fetch(`${whatsApp.emulator.url}/v26.0/${waba_id}/subscribed_apps`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${account.access_token}` },
  });
  await control(`/phone-numbers/${phone_number_id}`, { status: "DISCONNECTED" });
  const first = await connect({ pin });
  expect(first).toMatchObject({ inbox_id: inbox.id, ok: true, checked_at: app.now().toISOString() });
  expect(first.steps.map(({ name }) => name)).toEqual(names);
  expect(statesOf(first)).toEqual({
    app: "ok",
    token: "ok",
    number: "ok",
    account: "ok",
    webhook: "changed",
    subscription: "changed",
    registration: "changed",
  });
  // The number is registered already, so that another PIN changes nothing.
  const again = await connect({ pin: "000000" });
  expect([again.ok, ...Object.values(statesOf(again))]).toEqual([true, ...names.map(() => "ok")]);
});

test("afterwards the messages of customers come in, also where the app requires a proof", async () => {
  await connect();
  await control(`/apps/${app_id}`, { require_app_secret: true });
  expect((await connect()).ok).toBe(true);
  await control("/inbound", { from: "+14155550123", text: "Hello!" });
  await whatsApp.emulator.idle();
  await app.runDueJobs();
  const { data } = await app.call(conversations.list_conversations, { inbox_id: inbox.id });
  expect(data[0]?.last_message?.direction).toBe("inbound");
  expect((await app.call(inboxes.check_inbox, { id: inbox.id })).data.ok).toBe(true);
});

test("an app that reports to another address keeps it, unless the caller replaces it", async () => {
  const other = await startReceiver((request, response) => {
    response.end(new URL(request.url ?? "", "http://x").searchParams.get("hub.challenge"));
  });
  await using _ = other;
  const callback_url = `http://127.0.0.1:${other.port}/hook?key=of-another-service`;
  await control(`/apps/${app_id}`, { callback_url });
  const kept = await connect();
  expect(kept.ok).toBe(false);
  expect(stepOf(kept, "webhook")).toMatchObject({
    state: "failed",
    detail: `The app reports to another address: http://127.0.0.1:${other.port}/hook`,
    fix: expect.stringContaining("replace_callback"),
  });
  expect(statesOf(await connect({ replace_callback: true })).webhook).toBe("changed");
  expect((await connect()).ok).toBe(true);
});

describe("a step that fails says what to do:", () => {
  test("another app secret", async () => {
    await storeAccount({ app_secret: "another-appsecret" });
    const result = await connect();
    expect(statesOf(result)).toEqual(
      Object.fromEntries(names.map((name) => [name, name === "app" ? "failed" : "skipped"])),
    );
    expect(stepOf(result, "app")).toMatchObject({
      detail: "Meta does not accept the app id with this app secret.",
      fix: expect.stringContaining("App settings → Basic"),
    });
  });

  test("a token that has ended, and one that will", async () => {
    await control("/tokens", { access_token: "EAAending", expires_in_ms: 60_000 });
    await storeAccount({ access_token: "EAAending" });
    expect(stepOf(await connect(), "token")).toMatchObject({
      state: "ok",
      detail: "The access token works until 2026-11-22T12:01:00.000Z.",
      fix: expect.stringContaining("does not expire"),
    });
    await control("/tokens/expire", { access_token: "EAAending" });
    const result = await connect();
    expect(stepOf(result, "token")?.detail).toContain("has expired or was revoked");
    expect(statesOf(result)).toEqual({
      app: "ok",
      token: "failed",
      number: "skipped",
      account: "skipped",
      webhook: "ok",
      subscription: "skipped",
      registration: "skipped",
    });
  });

  test("a token without a permission", async () => {
    const permissions = ["whatsapp_business_messaging"];
    await control("/tokens", { access_token: "EAAmessaging", permissions });
    await storeAccount({ access_token: "EAAmessaging" });
    expect(stepOf(await connect(), "token")).toMatchObject({
      state: "failed",
      detail: "The access token lacks the permission whatsapp_business_management.",
      fix: expect.stringContaining("system user"),
    });
  });

  test("ids that the token can't read", async () => {
    await storeAccount({ phone_number_id: "999999999999999" });
    const result = await connect();
    expect(stepOf(result, "number")?.detail).toContain("phone_number_id");
    expect(stepOf(result, "account")?.detail).toContain("has no phone number");
    expect(statesOf(result)).toMatchObject({ subscription: "skipped", registration: "skipped" });
    await storeAccount({ waba_id: "999999999999999" });
    expect(stepOf(await connect(), "account")?.detail).toContain("waba_id");
  });

  test("an address that Meta can't verify", async () => {
    whatsApp.setPublic(false);
    const result = await connect();
    expect(statesOf(result)).toMatchObject({ webhook: "failed", subscription: "ok", registration: "ok" });
    expect(stepOf(result, "webhook")).toMatchObject({
      detail: expect.stringContaining("HTTP Status Code = 404"),
      fix: expect.stringContaining("over https"),
    });
    whatsApp.setPublic(true);
    expect((await connect()).ok).toBe(true);
  });

  test("another PIN, none, and one that is none", async () => {
    await control(`/phone-numbers/${phone_number_id}`, { status: "DISCONNECTED", pin });
    expect(stepOf(await connect(), "registration")).toMatchObject({
      state: "failed",
      fix: expect.stringContaining("6 digits"),
    });
    expect(stepOf(await connect({ pin: "111111" }), "registration")).toMatchObject({
      state: "failed",
      detail: "The PIN is not the PIN of the number's two-step verification.",
    });
    const failure = await expectFailure(app.call(inboxes.connect_inbox, { id: inbox.id, pin: "12345a" }));
    expect(failure).toMatchObject({ status: 400, error: { param: "pin" } });
    expect(statesOf(await connect({ pin })).registration).toBe("changed");
  });
});

test("a simulated inbox has nothing to connect, and one that does not exist is not found", async () => {
  const { data } = await app.call(inboxes.list_inboxes, {});
  const simulated = data.find(({ channel }) => channel === "simulator");
  const connectOther = (id: string) => expectFailure(app.call(inboxes.connect_inbox, { id }));
  expect(await connectOther(simulated?.id ?? "")).toMatchObject({
    status: 422,
    code: "inbox_not_connectable",
  });
  expect(await connectOther("inb_unknown")).toMatchObject({ status: 404 });
});

test("no answer, log or table shows a credential or the PIN", async () => {
  await control(`/phone-numbers/${phone_number_id}`, { status: "DISCONNECTED" });
  const input = { id: inbox.id, pin };
  const { data: planned } = await app.call(plans.plan_call, { operation: "connect_inbox", input });
  expect(planned.input).toEqual({ id: inbox.id, pin: "…" });
  const { data } = await app.call(inboxes.connect_inbox, input, { idempotencyKey: "connect-once" });
  expect(data.ok).toBe(true);
  const { queries } = app.server.database;
  const rows: unknown[] = [];
  for (const { name } of await queries.introspection.getTables()) {
    // Every table of the database.
    const table = name as "inboxes";
    rows.push(...(await queries.selectFrom(table).selectAll().execute()));
  }
  const { data: acts } = await app.call(activity.list_activity, { operation: "connect_inbox" });
  expect(acts[0]).toMatchObject({ operation: "connect_inbox", outcome: "done" });
  const everything = [JSON.stringify(rows), JSON.stringify(acts), ...shown].join("\n");
  const { access_token, app_secret, verify_token } = account;
  const secrets = [access_token, app_secret, verify_token, `"${pin}"`, `\\"${pin}`];
  expect(secrets.filter((secret) => everything.includes(secret))).toEqual([]);
});
