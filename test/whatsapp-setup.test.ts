/** Setting up a WhatsApp inbox: its credentials are checked at Meta, sealed, replaced, and never shown. */
import { createHmac } from "node:crypto";
import { sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import { seal, tryUnseal } from "../src/platform/foundation/sealing/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { meanwhile } from "./support/meanwhile.ts";
import {
  createWhatsAppInbox,
  credentials,
  deliver,
  type GraphApi,
  graphError,
  type Inbox,
  inboundText,
  messagesChange,
  openWindow,
  postWebhook,
  secretValues,
  sendText,
  startGraphApi,
  startWhatsAppApp,
  useWhatsApp,
  whatsAppNumber,
} from "./support/whatsapp.ts";

let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;
const logged: string[] = [];
const write = (...parts: unknown[]) => {
  logged.push(
    parts.map((part) => `${JSON.stringify(part)} ${part instanceof Error ? part.stack : ""}`).join(" "),
  );
};

useWhatsApp(
  (started) => {
    ({ graph, app, inbox } = started);
  },
  { log: { debug: write, info: write, warn: write, error: write } },
);
let working: GraphApi["routes"];
beforeEach(() => {
  working ??= { ...graph.routes };
  Object.assign(graph.routes, working);
  graph.requests.length = 0;
  graph.proofs.length = 0;
});

const numberAnswer = (display_phone_number: string) => () => ({
  body: { data: [{ id: credentials.phone_number_id, display_phone_number }] },
});
const other = { phone_number: "+16315555556" };

test("an inbox is created with the address for Meta's dashboard, and without its credentials", () => {
  expect(inbox).toMatchObject({
    channel: "whatsapp",
    platform: "whatsapp",
    phone_number: whatsAppNumber,
    callback_url: `https://tidings.example/webhooks/whatsapp/${inbox.organization_id}/${inbox.id}`,
    last_webhook_at: null,
    health: { status: "ok" },
  });
  expect(Object.keys(inbox)).not.toContain("credentials");
});

test("the token is sent to the configured host, and the app is subscribed to the account", async () => {
  await app.call(inboxes.update_inbox, { id: inbox.id, credentials });
  expect(graph.requests.map(({ method, path }) => `${method} ${path.split("?")[0]}`)).toEqual([
    `GET /v26.0/${credentials.waba_id}/phone_numbers`,
    `POST /v26.0/${credentials.waba_id}/subscribed_apps`,
    `GET /v26.0/${credentials.waba_id}/subscribed_apps`,
    `GET /v26.0/${credentials.phone_number_id}`,
  ]);
  expect(graph.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array(4).fill(`Bearer ${credentials.access_token}`),
  );
  const proof = createHmac("sha256", credentials.app_secret).update(credentials.access_token).digest("hex");
  expect(graph.proofs).toEqual(Array(4).fill(proof));
});

describe("credentials that do not work are rejected with the field that is wrong:", () => {
  const cases = [
    ["an expired token", "access_token", { "GET phone_numbers": () => graphError(190, {}, { status: 401 }) }],
    ["another account", "waba_id", { "GET phone_numbers": () => graphError(100, { error_subcode: 33 }) }],
    [
      "a number of another account",
      "phone_number_id",
      { "GET phone_numbers": () => ({ body: { data: [] } }) },
    ],
    ["a token without the permission", "access_token", { "POST subscribed_apps": () => graphError(200) }],
    ["a token that can't read apps", "access_token", { "GET subscribed_apps": () => graphError(100) }],
    [
      "another app's secret",
      "app_secret",
      {
        "GET phone_numbers": () =>
          graphError(100, { message: "Invalid appsecret_proof provided in the API argument" }),
      },
    ],
    ["a token of another app", "app_id", { "GET subscribed_apps": () => ({ body: { data: [] } }) }],
  ] as const;
  test.each(cases)("%s", async (_, field, routes) => {
    graph.routes["GET phone_numbers"] = numberAnswer("+1 631-555-5556");
    Object.assign(graph.routes, routes);
    const countInboxes = async () => (await app.call(inboxes.list_inboxes, {})).meta.total;
    const before = await countInboxes();
    const failure = await expectFailure(createWhatsAppInbox(app, other));
    expect(failure).toMatchObject({
      status: 422,
      code: "credentials_rejected",
      error: { param: `credentials.${field}` },
    });
    expect(await countInboxes()).toBe(before);
  });

  test("an id of another number", async () => {
    const failure = await expectFailure(createWhatsAppInbox(app, other));
    expect(failure.message).toContain("+16315555555");
    expect(failure.error?.param).toBe("credentials.phone_number_id");
  });
});

test("an inbox keeps its credentials when new ones are rejected", async () => {
  graph.routes["GET phone_numbers"] = () => graphError(190, {}, { status: 401 });
  const wrong = { ...credentials, access_token: "EAA-wrong-token" };
  await expectFailure(app.call(inboxes.update_inbox, { id: inbox.id, credentials: wrong }));
  await openWindow(app, inbox);
  graph.requests.length = 0;
  await sendText(app, inbox);
  expect(graph.requests[0]?.headers.authorization).toBe(`Bearer ${credentials.access_token}`);
});

describe("stored credentials", () => {
  const ids = ({ phone_number_id, waba_id, app_id }: typeof credentials) => ({
    phone_number_id,
    waba_id,
    app_id,
  });

  test("are in the form of the version before, which may run beside this one", async () => {
    const { queries } = app.server.database;
    const { secrets, ...row } = await queries
      .selectFrom("inbox_accounts")
      .select(["phone_number_id", "waba_id", "app_id", "secrets"])
      .where("inbox_id", "=", inbox.id)
      .executeTakeFirstOrThrow();
    const { access_token, app_secret, verify_token } = credentials;
    const opened = tryUnseal(await secretsOfApp(), secrets)?.text ?? "";
    expect(row).toEqual(ids(credentials));
    expect(JSON.parse(opened)).toEqual({ access_token, app_secret, verify_token });
  });

  test("are read when a later version has sealed them whole", async () => {
    const changed = { ...credentials, access_token: "EAAtoken-of-a-later-version" };
    await app.server.database.queries
      .updateTable("inbox_accounts")
      .set({ secrets: seal(await secretsOfApp(), JSON.stringify(changed)) })
      .where("inbox_id", "=", inbox.id)
      .execute();
    await openWindow(app, inbox);
    const { read } = await sendText(app, inbox);
    expect((await read()).status).toBe("sent");
    const { headers } = graph.requests.at(-1) ?? {};
    expect(headers).toMatchObject({ authorization: `Bearer ${changed.access_token}` });
    await app.call(inboxes.update_inbox, { id: inbox.id, credentials });
  });

  async function secretsOfApp() {
    const { value } = await app.server.database.queries
      .selectFrom("settings")
      .select("value")
      .where("name", "=", "secret")
      .executeTakeFirstOrThrow();
    return { secret: value, previousSecret: undefined, generatedSecret: value };
  }
});

test("a provider that does not respond is no verdict", async () => {
  graph.routes["GET phone_numbers"] = () => "break";
  const failure = await expectFailure(createWhatsAppInbox(app, other));
  expect(failure).toMatchObject({ status: 503, code: "channel_unreachable" });
});

test("a WhatsApp inbox needs credentials, and a simulated one has none", async () => {
  const missing = await expectFailure(createWhatsAppInbox(app, { ...other, credentials: undefined }));
  expect(missing).toMatchObject({ status: 400, error: { param: "credentials" } });
  const [simulated] = (await app.call(inboxes.list_inboxes, {})).data;
  const failure = await expectFailure(
    app.call(inboxes.update_inbox, { id: simulated?.id ?? "", credentials }),
  );
  expect(failure).toMatchObject({ status: 422, code: "credentials_not_used" });
});

test("a repeated creation answers as the first, without asking Meta again", async () => {
  graph.routes["GET phone_numbers"] = numberAnswer("+1 631 555 5557");
  const input = { name: "Two", channel: "whatsapp" as const, phone_number: "+16315555557", credentials };
  const first = await app.call(inboxes.create_inbox, input, { idempotencyKey: "create-two" });
  const asked = graph.requests.length;
  const second = await app.call(inboxes.create_inbox, input, { idempotencyKey: "create-two" });
  expect(second).toEqual(first);
  expect(graph.requests.length).toBe(asked);
});

test("a repeated creation whose credentials can't be read any more is rejected, and creates nothing", async () => {
  await using silent = await startGraphApi();
  await using own = await startTestApp({ env: silent.env });
  const isAsked = new Promise<void>((resolve) => {
    silent.routes["GET phone_numbers"] = () => {
      resolve();
      return "hang";
    };
  });
  const input = { name: "A", channel: "whatsapp" as const, phone_number: whatsAppNumber, credentials };
  const create = () => own.call(inboxes.create_inbox, input, { idempotencyKey: "one" });
  await meanwhile(expectFailure(create()), async () => {
    await isAsked;
    await sql`
      update outward_calls set running_until = ${own.now().toISOString()}::timestamptz - interval '1 second',
        intent = jsonb_set(intent, '{account,secrets}', '"lost"')
    `.execute(own.server.database.queries);
    expect(await expectFailure(create())).toMatchObject({ status: 422, code: "credentials_rejected" });
    await silent[Symbol.asyncDispose]();
  });
  const channels = (await own.call(inboxes.list_inboxes, {})).data.map(({ channel }) => channel);
  expect(channels).not.toContain("whatsapp");
});

test("where the wallet must pay, a WhatsApp inbox is never exempt", async () => {
  const { app: strict, inbox: own } = await startWhatsAppApp(graph, { env: { TIDINGS_WALLET: "block" } });
  await using _ = strict;
  await strict.call(inboxes.update_inbox, { id: own.id, settings: { wallet: "recorded" } });
  await openWindow(strict, own);
  const failure = await expectFailure(sendText(strict, own));
  expect(failure).toMatchObject({ status: 402, code: "insufficient_funds" });
});

test("the simulator can't write to a WhatsApp inbox, and a message without a number goes to the simulated one", async () => {
  const write = (body: object) => app.fetch("/simulator/inbound", { method: "POST", json: body });
  expect((await write({ from: "+14155550177", to: whatsAppNumber, text: "forged" })).status).toBe(404);
  expect((await write({ from: "+14155550177", text: "hello" })).status).toBe(201);
});

test("free text outside the window is rejected, whatever the setting", async () => {
  await app.call(inboxes.update_inbox, { id: inbox.id, settings: { service_window: "advisory" } });
  const failure = await expectFailure(sendText(app, inbox, "+14155550999"));
  expect(failure.code).toBe("outside_service_window");
});

test("no answer, log or table shows a credential", async () => {
  graph.routes["POST messages"] = () => graphError(131026);
  await openWindow(app, inbox);
  await sendText(app, inbox);
  await deliver(app, inbox, messagesChange({ messages: [inboundText("hello")] }));
  await postWebhook(app, inbox, { body: "{}", signature: "sha256=wrong" });
  const rows: unknown[] = [];
  const { queries } = app.server.database;
  const tables = await queries.introspection.getTables();
  for (const { name } of tables) {
    // Every table of the database.
    rows.push(
      ...(await queries
        .selectFrom(name as "inboxes")
        .selectAll()
        .execute()),
    );
  }
  const answers = await (await app.fetch("/v1/inboxes")).text();
  const everything = [JSON.stringify(rows), answers, logged.join("\n")].join("\n");
  expect(rows.length).toBeGreaterThan(20);
  expect(secretValues.filter((secret) => everything.includes(secret))).toEqual([]);
});
