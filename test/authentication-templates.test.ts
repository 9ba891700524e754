/** Templates for codes: how they are created, reviewed and sent. Nothing stores or shows the code. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import {
  fromAuthentication,
  toAuthentication,
} from "../src/adapters/channel/whatsapp/templates/authentication.ts";
import { createClient } from "../src/client/index.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { messages } from "../tools/messages/index.ts";
import { plans } from "../tools/plans.ts";
import { templates } from "../tools/templates/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { ownerKey, startTestApp, type TestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { createBroadcastHelpers } from "./support/broadcasts.ts";
import { createEmulatedTemplates } from "./support/emulated-templates.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";
import { useEmulatedWhatsApp } from "./support/whatsapp-channel.ts";
import type { Json } from "./support/whatsapp-emulator.ts";

const logged: string[] = [];
const keep = (...entry: unknown[]) => {
  logged.push(JSON.stringify(entry));
};
const log = { debug: keep, info: keep, warn: keep, error: keep };
const whatsApp = useEmulatedWhatsApp({ log }, { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" });
const { find, approve, listed, createAtMeta } = createEmulatedTemplates(whatsApp);

const code = "Q7Z-918-XK";
const to = "+14155550123";
const content = (name: string) => ({ name, language: "en", variables: { code } });
const shownText = "*••••••* is your verification code. For your security, do not share this code.";
const sentComponents = [
  { type: "body", parameters: [{ type: "text", text: code }] },
  { type: "button", sub_type: "url", index: "0", parameters: [{ type: "text", text: code }] },
];

async function send(name: string, more: object = {}) {
  const { app, inbox } = whatsApp();
  const input = { to, type: "template" as const, inbox_id: inbox.id, template: content(name), ...more };
  return (await app.call(messages.send_message, input)).data;
}

async function lastAtPhone(): Promise<Json> {
  const answer = await fetch(`${whatsApp().emulator.url}/emulator/messages?limit=1`);
  return ((await answer.json()) as Json).data[0].body.template;
}

/** The names of the tables with a row in which the code stands. */
async function tablesWith(app: TestApp, text: string): Promise<readonly string[]> {
  const db = app.server.database.queries;
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'
  `.execute(db);
  const found = [];
  for (const { name } of tables) {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from ${sql.table(name)} as t where row_to_json(t)::text like ${`%${text}%`}
    `.execute(db);
    found.push(...(rows[0]?.count === 0 ? [] : [name]));
  }
  return found;
}

describe("a template for codes", () => {
  test("is submitted without texts, and has WhatsApp's text", async () => {
    const { app, inbox } = whatsApp();
    const { data: draft } = await app.call(templates.create_otp_template, {
      name: "sign_in",
      language: "en",
      inbox_id: inbox.id,
      button: "one_tap",
      add_security_recommendation: true,
      code_expiration_minutes: 10,
      apps: [{ package_name: "com.example.canoes", signature_hash: "K8a/AINcGX7" }],
    });
    expect(draft).toMatchObject({
      category: "authentication",
      status: "draft",
      is_read_only: true,
      warnings: [],
      template_data: { footer: "This code expires in 10 minutes." },
      variables: [{ name: "code", component: "BODY" }],
    });
    await approve(draft.id);
    expect((await listed("sign_in")).components).toMatchObject([
      { type: "BODY", add_security_recommendation: true },
      { type: "FOOTER", code_expiration_minutes: 10 },
      {
        type: "BUTTONS",
        buttons: [{ otp_type: "ONE_TAP", supported_apps: [{ signature_hash: "K8a/AINcGX7" }] }],
      },
    ]);
    expect(await find("sign_in")).toMatchObject({
      status: "approved",
      is_sendable: true,
      template_data: draft.template_data,
    });
    const change = { id: draft.id, template_data: { body: "Hello." } };
    const failure = await expectFailure(app.call(templates.update_template, change));
    expect(failure).toMatchObject({ status: 422, code: "template_read_only" });
  });

  test("that was created at Meta is added", async () => {
    const components = [
      { type: "BODY", add_security_recommendation: true },
      { type: "BUTTONS", buttons: [{ type: "OTP", otp_type: "COPY_CODE" }] },
    ];
    const { synced } = await createAtMeta({ name: "meta_code", category: "AUTHENTICATION", components });
    expect(synced.skipped).toEqual([]);
    expect(await find("meta_code")).toMatchObject({
      is_sendable: true,
      template_data: { authentication: { button: "copy_code", add_security_recommendation: true } },
    });
  });

  test.each([
    ["one_tap without apps", { button: "one_tap" }, "apps"],
    [
      "copy_code with apps",
      { button: "copy_code", apps: [{ package_name: "a.b", signature_hash: "K8a/AINcGX7" }] },
      "apps",
    ],
    [
      "zero_tap without its terms",
      { button: "zero_tap", apps: [{ package_name: "a.b", signature_hash: "K8a/AINcGX7" }] },
      "zero_tap_terms_accepted",
    ],
    [
      "an app with another hash",
      { button: "one_tap", apps: [{ package_name: "a.b", signature_hash: "K8a" }] },
      "apps[0].signature_hash",
    ],
    ["91 minutes", { button: "copy_code", code_expiration_minutes: 91 }, "code_expiration_minutes"],
  ] as const)("%s is refused", async (_, input, param) => {
    const call = whatsApp().app.call(templates.create_otp_template, {
      name: "refused",
      ...JSON.parse(JSON.stringify(input)),
    });
    expect(await expectFailure(call)).toMatchObject({ status: 400, error: { param } });
  });

  test("is read from what Meta shows of an approved button, and written with the terms of zero_tap", () => {
    const url = "https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}";
    const text = "*{{1}}* ist dein Code.";
    const buttons = [{ type: "URL", text: "Code kopieren", url }];
    expect(
      fromAuthentication([
        { type: "BODY", text },
        { type: "BUTTONS", buttons },
      ]),
    ).toMatchObject({
      template_data: { body: text, authentication: { button: "copy_code" } },
    });
    expect(fromAuthentication([{ type: "BODY", text }])).toBeNull();
    const apps = [{ package_name: "a.b", signature_hash: "K8a/AINcGX7" }];
    const input = { button: "zero_tap", add_security_recommendation: false, apps } as const;
    expect(toAuthentication({ ...input, apps, zero_tap_terms_accepted: true })).toEqual([
      { type: "BODY", add_security_recommendation: false },
      {
        type: "BUTTONS",
        buttons: [{ type: "OTP", otp_type: "ZERO_TAP", supported_apps: apps, zero_tap_terms_accepted: true }],
      },
    ]);
  });
});

describe("a code", () => {
  test("reaches the phone, and stands in no table, answer or line of the log", async () => {
    const { app, inbox, advance } = whatsApp();
    await using receiver = await startWebhookReceiver();
    const { data: webhook } = await app.call(webhooks.create_webhook, {
      url: receiver.url,
      events: ["message.sent", "message.delivered"],
    });
    receiver.secret = webhook.signing_secret;
    const client = createClient({ baseUrl: app.address, key: ownerKey, retries: 0 });
    const input = { to, type: "template" as const, inbox_id: inbox.id, template: content("sign_in") };
    const options = { idempotencyKey: "code-1" };
    const { data: sent } = await client.call(messages.send_message, input, options);
    expect(JSON.stringify(sent)).not.toContain(code);
    expect(await tablesWith(app, code)).toEqual([]);
    expect(await tablesWith(app, "sealed_code")).toEqual(["messages"]);
    await app.runDueJobs();
    expect((await lastAtPhone()).components).toEqual(sentComponents);
    expect(await tablesWith(app, "sealed_code")).toEqual([]);
    await advance(60_000);
    await app.runDueJobs();
    const again = await client.call(messages.send_message, input, options);
    expect(again.data.id).toBe(sent.id);
    expect(await tablesWith(app, code)).toEqual([]);
    const { data: shown } = await app.call(messages.get_message, {
      conversation_id: sent.conversation_id,
      message_id: sent.id,
    });
    expect(shown.status).toBe("delivered");
    expect(shown.template?.body).toBe(shownText);
    expect(JSON.stringify(shown)).not.toContain(code);
    expect(receiver.received.map(({ event }) => event.type).sort()).toEqual([
      "message.delivered",
      "message.sent",
    ]);
    expect(JSON.stringify(receiver.received)).not.toContain(code);
    expect(logged.join("\n")).not.toContain(code);
    await app.call(webhooks.delete_webhook, { id: webhook.id });
  });

  test("is taken as components too, and a message without one is refused", async () => {
    const { app } = whatsApp();
    const template = { name: "sign_in", language: "en", components: sentComponents.slice(0, 1) };
    await send("sign_in", { template });
    await whatsApp().advance(10_000);
    await app.runDueJobs();
    expect((await lastAtPhone()).components).toEqual(sentComponents);
    for (const variables of [{}, { code: "1".repeat(16) }, { code: "12 34" }]) {
      const refused = await expectFailure(
        send("sign_in", { template: { ...content("sign_in"), variables } }),
      );
      expect(refused).toMatchObject({ status: 422, code: "template_values_mismatch" });
    }
  });

  test("that a message is refused with for now is sent by the next attempt", async () => {
    const { app, advance, control } = whatsApp();
    await control("PUT", "/faults", { failures: [{ code: 130429, share: 1 }] });
    await send("sign_in");
    await advance(10_000);
    expect(await tablesWith(app, "sealed_code")).toEqual(["messages"]);
    await control("PUT", "/faults", {});
    await advance(120_000);
    await app.runDueJobs();
    expect(await tablesWith(app, "sealed_code")).toEqual([]);
    expect((await lastAtPhone()).components).toEqual(sentComponents);
  });

  test("that no secret opens fails its message, which says that a new code is needed", async () => {
    const { app, advance } = whatsApp();
    const { id: message_id, conversation_id } = await send("sign_in");
    await sql`
      update messages set content = jsonb_set(content, '{sealed_code}', '"a.b.c"') where id = ${message_id}
    `.execute(app.server.database.queries);
    await advance(10_000);
    const { data } = await app.call(messages.get_message, { conversation_id, message_id });
    expect(data).toMatchObject({
      status: "failed",
      error: { code: "code_gone", hint: expect.stringContaining("new code") },
    });
    expect(await tablesWith(app, "sealed_code")).toEqual([]);
  });

  test("is sent neither by a plan nor by a broadcast, which would keep it", async () => {
    const { app, inbox } = whatsApp();
    const input = { to, type: "template", inbox_id: inbox.id, template: content("sign_in") };
    const planned = await expectFailure(app.call(plans.plan_call, { operation: "send_message", input }));
    expect(planned).toMatchObject({ status: 422, code: "code_not_sendable" });
    const { cohort } = await createBroadcastHelpers(app).createCohort(["+14155550188"]);
    const { id: template_id } = await find("sign_in");
    const variable_mapping = { code: { attribute: "metadata.code", default: code } };
    const broadcast = { name: "Codes", cohort_id: cohort.id, template_id, variable_mapping };
    expect(await expectFailure(app.call(broadcasts.create_broadcast, broadcast))).toMatchObject({
      status: 422,
      code: "code_not_sendable",
    });
    expect(await tablesWith(app, code)).toEqual([]);
    expect(logged.join("\n")).not.toContain(code);
  });
});

describe("a code is refused at once, and stored nowhere,", () => {
  test.each([
    ["a plan before it is sent", { mode: "plan" }],
    ["the release of a person in each case", { mode: "approve" }],
    ["the release of a person", { approve: { recipients_above: 0 } }],
    ["the confirmation of the client's user", { mode: "confirm" }],
    ["a person at the limit of its budget", { budgets: { messages: { day: 0 } } }],
  ] as const)("from a key that needs %s", async (_, rules) => {
    const { app, inbox } = whatsApp();
    const { key } = await createApprovalHelpers(app).createKey(rules);
    const { data: before } = await app.call(plans.list_plans, {});
    const input = { to, type: "template" as const, inbox_id: inbox.id, template: content("sign_in") };
    const options = { key, idempotencyKey: "code-held" };
    const failure = await expectFailure(app.call(messages.send_message, input, options));
    expect(failure).toMatchObject({ status: 422, code: "code_not_sendable" });
    await app.runDueJobs();
    expect(await app.call(plans.list_plans, {})).toMatchObject({ data: before });
    expect(await tablesWith(app, code)).toEqual([]);
    expect(await tablesWith(app, "sealed_code")).toEqual([]);
    expect(logged.join("\n")).not.toContain(code);
  });
});

test("the phone of the simulator shows the text without the code", async () => {
  await using app = await startTestApp({ log });
  const input = { name: "sandbox_code", language: "en", button: "copy_code" as const };
  const { data } = await app.call(templates.create_otp_template, input);
  await app.call(templates.submit_template, { id: data.id });
  await app.advanceTime(1_000);
  await app.call(messages.send_message, { to, type: "template", template: content("sandbox_code") });
  await app.advanceTime(10_000);
  const answer = await app.fetch(`/simulator/phones/${to}/messages`);
  expect(await answer.text()).toContain("*••••••* is your verification code.");
  expect(await tablesWith(app, code)).toEqual([]);
  expect(logged.join("\n")).not.toContain(code);
});
