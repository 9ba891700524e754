/**
 * The secret under which values are stored: set, rotated, and lost, with the webhooks and
 * answers stored before.
 */
import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { nameOfSealed } from "../src/platform/foundation/sealing/index.ts";
import { sealedColumns } from "../src/platform/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { flows } from "../tools/flows/index.ts";
import { messages } from "../tools/messages/index.ts";
import { plans } from "../tools/plans.ts";
import { templates } from "../tools/templates/index.ts";
import { users } from "../tools/users.ts";
import { webhooks } from "../tools/webhooks.ts";
import { ownerEmail, ownerPassword, silentLog, startTestApp, type TestApp } from "./support/app.ts";
import { lendTestDatabase, type TestDatabase } from "./support/database.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./support/webhook-receiver.ts";
import { createWhatsAppInbox, startGraphApi } from "./support/whatsapp.ts";

const [a, b, c] = ["a".repeat(32), "b".repeat(32), "c".repeat(32)] as [string, string, string];
/** A key that the client repeats, to get the stored answer. */
const createKey = { json: { name: "sealed", scopes: ["contacts:read"] }, idempotencyKey: "same-key" };

let database: TestDatabase;
let receiver: WebhookReceiver;
beforeEach(async () => {
  [database, receiver] = await Promise.all([lendTestDatabase(), startWebhookReceiver()]);
});
afterEach(() => Promise.all([database, receiver].map((used) => used[Symbol.asyncDispose]())));

function start(
  secret?: string,
  previous?: string,
  env: Record<string, string> = {},
  log = silentLog,
): Promise<TestApp> {
  const settings = { TIDINGS_SECRET: secret ?? "", TIDINGS_PREVIOUS_SECRET: previous ?? "", ...env };
  return startTestApp({ database, log, env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true", ...settings } });
}

/** Runs one life of the service. */
async function run<Result>(starting: Promise<TestApp>, use: (app: TestApp) => Promise<Result>) {
  await using app = await starting;
  return await use(app);
}

/** Creates what the app stores sealed: a webhook that was rotated once, and an answer that shows a key. */
async function store(app: TestApp) {
  const created = await app.call(webhooks.create_webhook, { url: receiver.url, events: ["message.sent"] });
  const { data } = await app.call(webhooks.rotate_webhook_secret, { id: created.data.id });
  receiver.secret = data.signing_secret;
  return { id: created.data.id, key: await repeatCreate(app) };
}

/** Runs a plan whose call to a third party does not end before the receiver does. */
async function holdPlannedCall(app: TestApp): Promise<WebhookReceiver> {
  const held = await startWebhookReceiver();
  held.respond = () => ({ hangs: true });
  const { data } = await app.call(webhooks.create_webhook, { url: held.url, events: ["message.sent"] });
  held.secret = data.signing_secret;
  const plan = await app.call(plans.plan_call, { operation: "test_webhook", input: { id: data.id } });
  app.call(plans.run_plan, { id: plan.data.id }).catch(() => undefined);
  await expect.poll(() => held.received.length).toBe(1);
  return held;
}

/** Sends a message with a code. It waits until the clock is advanced. */
async function queueCode(app: TestApp) {
  const template = { name: "sign_in", language: "en" };
  const draft = { ...template, button: "copy_code" as const };
  const { data } = await app.call(templates.create_otp_template, draft);
  await app.call(templates.submit_template, { id: data.id });
  await app.advanceTime(1_000);
  const input = { to: "+14155550123", type: "template" as const };
  const sent = await app.call(messages.send_message, {
    ...input,
    template: { ...template, variables: { code: "Q7Z-918-XK" } },
  });
  return sent.data;
}

async function repeatCreate(app: TestApp): Promise<unknown> {
  const { json, idempotencyKey } = createKey;
  const headers = { "idempotency-key": idempotencyKey };
  const answer = await app.fetch("/v1/api-keys", { method: "POST", json, headers });
  return { status: answer.status, body: await answer.json() };
}

/** The webhook signs with the secrets that its creator knows, and the repeated call gets its answer. */
async function expectIntact(app: TestApp, stored: Awaited<ReturnType<typeof store>>) {
  receiver.received.length = 0;
  const { data } = await app.call(webhooks.test_webhook, { id: stored.id });
  expect(data.delivered).toBe(true);
  // The current secret and the one before the webhook's rotation.
  expect(String(receiver.received[0]?.headers["webhook-signature"]).split(" ")).toHaveLength(2);
  expect(await repeatCreate(app)).toEqual(stored.key);
}

test("a secret that is set, then rotated twice, keeps webhooks and stored answers", async () => {
  const stored = await run(start(), store);
  await run(start(a), (app) => expectIntact(app, stored));
  await run(start(b, a), (app) => expectIntact(app, stored));
  await run(start(c, b), (app) => expectIntact(app, stored));
  // Nothing needs an older secret than the one in use.
  await run(start(c), (app) => expectIntact(app, stored));
  await run(start(undefined, c), (app) => expectIntact(app, stored));
});

describe("without the secret that sealed them", () => {
  test("the start fails with the count, changes nothing, and succeeds with the secret", async () => {
    const stored = await run(start(a), store);
    await expect(start(c, b)).rejects.toThrow(
      /^5 stored values can't be opened with .* \(3 in idempotency\.body, 1 in webhooks\.secret, 1 in webhooks\.previous_secret\)\. Nothing was changed\. Set TIDINGS_PREVIOUS_SECRET/,
    );
    await run(start(a), (app) => expectIntact(app, stored));
  });

  test("the start counts no value that is not used any more", async () => {
    await run(start(a), store);
    const later = await run(start(a), async (app) => {
      await app.advanceTime(25 * 3_600_000);
      return app.now();
    });
    await expect(startTestApp({ database, startsAt: later, env: { TIDINGS_SECRET: c } })).rejects.toThrow(
      /^1 stored values .* \(1 in webhooks\.secret\)/,
    );
  });

  test("TIDINGS_SECRET_LOST gives them up and warns; rotating a webhook's secret repairs it", async () => {
    const stored = await run(start(a), store);
    const warn = vi.fn();
    const log = { ...silentLog, warn };
    await run(start(c, undefined, { TIDINGS_SECRET_LOST: "true" }, log), async (app) => {
      expect(warn.mock.calls).toEqual(
        expect.arrayContaining([
          [{ column: "webhooks.secret", count: 1 }, "gave up stored values that no secret opens"],
          [{}, expect.stringMatching(/^TIDINGS_SECRET_LOST is set: unset it/)],
        ]),
      );
      const { data: test } = await app.call(webhooks.test_webhook, { id: stored.id });
      expect({ ...test, forged: receiver.forged }).toMatchObject({
        delivered: false,
        status_code: 401,
        forged: 1,
      });
      const { data } = await app.call(webhooks.rotate_webhook_secret, { id: stored.id });
      receiver.secret = data.signing_secret;
      expect((await app.call(webhooks.test_webhook, { id: stored.id })).data.delivered).toBe(true);
      expect(await repeatCreate(app)).toMatchObject({ status: 201 });
    });
    await run(start(c), async (app) => {
      expect((await app.call(webhooks.test_webhook, { id: stored.id })).data.delivered).toBe(true);
    });
  });
});

describe("a one-time code of a message that waits", () => {
  const read = async (
    app: TestApp,
    { id: message_id, conversation_id }: Awaited<ReturnType<typeof queueCode>>,
  ) => (await app.call(messages.get_message, { message_id, conversation_id })).data;

  test("is sent after two rotations of the secret", async () => {
    const sent = await run(start(a), queueCode);
    await run(start(b, a), () => Promise.resolve());
    await run(start(c, b), async (app) => {
      // This clock may be up to a second behind the clock with which the message was queued.
      await app.advanceTime(1_000);
      await app.advanceTime(10_000);
      expect(await read(app, sent)).toMatchObject({ status: "delivered" });
    });
  });

  test("counts at a start with another secret, and is given up with TIDINGS_SECRET_LOST", async () => {
    const sent = await run(start(a), queueCode);
    await expect(start(c)).rejects.toThrow(/^1 stored values .*\(1 in messages\.content\.sealed_code\)/);
    await run(start(c, undefined, { TIDINGS_SECRET_LOST: "true" }), async (app) => {
      await app.advanceTime(10_000);
      expect(await read(app, sent)).toMatchObject({ status: "failed", error: { code: "code_gone" } });
    });
    await run(start(c), async (app) => expect((await read(app, sent)).status).toBe("failed"));
  });

  test("stops no start once its message is sent", async () => {
    const sent = await run(start(a), async (app) => {
      const queued = await queueCode(app);
      await app.advanceTime(10_000);
      return queued;
    });
    await run(start(c), async (app) => expect((await read(app, sent)).status).toBe("delivered"));
  });
});

test("more values than a batch are sealed again, also those that an interrupted start has left", async () => {
  await run(start(), async (app) => {
    await store(app);
    await sql`
      insert into webhooks (organization_id, id, url, events, secret, created_at, updated_at)
      select organization_id, 'whk_' || number, url, events, secret, created_at, updated_at
      from webhooks, generate_series(1, 1100) as number
    `.execute(app.server.database.queries);
  });
  const half = sql`right(id, 1) in ('1', '3', '5')`;
  const [before] = await run(start(), (app) => readSecrets(app));
  await run(start(a), async (app) => {
    await sql`update webhooks set secret = ${before} where ${half}`.execute(app.server.database.queries);
  });
  await run(start(a), async (app) => expect(await readSecrets(app)).not.toContain(before));
  await run(start(b, a), async (app) => {
    const { data } = await app.call(webhooks.test_webhook, { id: "whk_1100" });
    expect(data.delivered).toBe(true);
  });
});

async function readSecrets(app: TestApp): Promise<unknown[]> {
  const rows = await app.server.database.queries.selectFrom("webhooks").select("secret").execute();
  return rows.map(({ secret }) => secret);
}

test("two processes that start at once with the secrets exchanged open each other's values", {
  tags: "postgres",
}, async () => {
  const stored = await run(start(a), store);
  const apps = await Promise.all([start(b, a), start(a, b), start(b, a)]);
  for (const app of apps) {
    await expectIntact(app, stored);
  }
  await Promise.all(apps.map((app) => app[Symbol.asyncDispose]()));
});

describe("the list of sealed columns", () => {
  const names = sealedColumns.map(nameOfSealed);

  test("has every column whose type is sealed", async () => {
    const text = await readFile("src/database/schema/tables.ts", "utf8");
    const tables = [...text.matchAll(/^ {2}(\w+): \{(.*?)^ {2}\}/gms)];
    const declared = tables.flatMap(([, table, body = ""]) =>
      [...body.matchAll(/^ {4}(\w+): .*Sealed/gm)].map(([, column]) => `${table}.${column}`),
    );
    const contents = await readFile("src/database/schema/inbox.ts", "utf8");
    const members = Array.from(
      contents.matchAll(/^ {2}readonly (\w+)\?: SealedText;/gm),
      ([, member]) => `messages.content.${member}`,
    );
    expect([...names].sort()).toEqual([...declared, ...members].sort());
  });

  test("has every column in which an operation that shows a secret stores a sealed text", async () => {
    await using graph = await startGraphApi();
    await run(start(a, undefined, graph.env), async (app) => {
      await store(app);
      const once = () => ({ idempotencyKey: crypto.randomUUID() });
      const { data } = await app.call(auth.login, { email: ownerEmail, password: ownerPassword });
      await app.call(auth.refresh, { refresh_token: data.refresh_token }, once());
      await app.call(apiKeys.create_api_key, { name: "one", scopes: ["contacts:read"] }, once());
      await app.call(users.create_user, { email: "new@example.com", name: "New", role: "agent" }, once());
      const url = receiver.url;
      await app.call(webhooks.create_webhook, { url, events: ["message.sent"] }, once());
      const secret_headers = { Authorization: "Bearer secret" };
      const action_config = { url: "https://example.com", secret_headers };
      await app.call(flows.create_flow, {
        name: "Call",
        trigger_type: "keyword",
        trigger_keyword: "x",
        end_action_type: "none",
        nodes: [{ id: "call", node_type: "http_request", action_config }],
      });
      await createWhatsAppInbox(app);
      const made = await app.call(plans.plan_call, {
        operation: "create_contact",
        input: { phone_number: "+14155550193" },
      });
      await app.call(plans.run_plan, { id: made.data.id });
      await queueCode(app);
      const { queries } = app.server.database;
      const tables = await queries.introspection.getTables();
      const found = [];
      // The call of the plan ends after 10 s, and its intent is deleted.
      await using held = await holdPlannedCall(app);
      for (const { name: table, columns } of tables) {
        for (const { name: column } of columns) {
          const { rows } = await sql`
            select from ${sql.table(table)}
            where ${sql.ref(column)}::text ~ '^"?[A-Za-z0-9_-]{16}[.][A-Za-z0-9_-]{22}[.][A-Za-z0-9_-]+"?$' limit 1
          `.execute(queries);
          found.push(...rows.map(() => `${table}.${column}`));
        }
      }
      for (const { name: table, columns } of tables) {
        for (const { name: column } of columns) {
          const { rows: members } = await sql<{ readonly member: string }>`
            select distinct sealed.parts[1] as member from ${sql.table(table)}, regexp_matches(
              ${sql.ref(column)}::text, '"(\\w+)": ?"[A-Za-z0-9_-]{16}[.][A-Za-z0-9_-]{22}[.][A-Za-z0-9_-]+"', 'g'
            ) as sealed(parts)
          `.execute(queries);
          found.push(...members.map(({ member }) => `${table}.${column}.${member}`));
        }
      }
      expect(held.received).toHaveLength(1);
      expect(found.sort()).toEqual([...names].sort());
    });
  });
});
