/** `GET /v1/events/stream`: events as they happen. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { readSnapshot } from "../src/database/query/index.ts";
import { getEventStreams } from "../src/platform/automation/webhooks/reading/streams.ts";
import { modules } from "../src/platform/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages/index.ts";
import { users } from "../tools/users.ts";
import { webhooks } from "../tools/webhooks.ts";
import { ownerEmail, ownerPassword, startTestApp, useTestApp } from "./support/app.ts";
import { openStream, requestStream } from "./support/event-stream.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld, readCaller } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });
const day = 24 * 3_600_000;

let count = 0;
async function addContact() {
  count += 1;
  const phone_number = `+1415555${String(7_000 + count)}`;
  return (await app.call(contacts.create_contact, { phone_number, name: `Ada ${count}` })).data.id;
}

const createKey = async (...scopes: string[]) =>
  (await app.call(apiKeys.create_api_key, { name: "stream", scopes })).data;
const types = "contact.created";

describe("a stream", () => {
  test("sends events in the form of webhooks, in order, and continues after the last one", async () => {
    const stream = await openStream(app, { query: { types } });
    expect(stream.first).toMatchObject({ event: "open", data: {} });
    const ids = [await addContact(), await addContact()];
    const [one, two] = [await stream.next(), await stream.next()];
    expect([one, two]).toMatchObject(
      ids.map((contact_id) => ({ event: types, data: { type: types, data: { contact_id } } })),
    );
    stream.abort();
    const third = await addContact();
    await using later = await openStream(app, { query: { types }, lastId: one?.id ?? "" });
    expect(later.first?.event).toBe("open");
    expect(await later.next()).toMatchObject({ event: types, data: two?.data });
    expect(await later.next()).toMatchObject({ data: { data: { contact_id: third } } });
  });

  test("continues from the cursor of list_events, and with the page after it", async () => {
    const { cursor } = (await app.call(webhooks.list_events, { types })).meta;
    const ids: string[] = [];
    for (let added = 0; added < 102; added += 1) {
      ids.push(await addContact());
    }
    await using stream = await openStream(app, { query: { types, after: cursor } });
    for (const contact_id of ids) {
      expect(await stream.next()).toMatchObject({ data: { data: { contact_id } } });
    }
    const { data, meta } = await app.call(webhooks.list_events, { types, after: cursor });
    expect([data.length, meta.cursor.includes("/")]).toEqual([100, true]);
  });

  test("sends what the scopes read, and refuses types that they don't", async () => {
    const { secret_key: key } = await createKey("contacts:read");
    await using stream = await openStream(app, { key });
    await app.call(messages.send_message, { to: "+14155557777", type: "text", text: { body: "x" } });
    const contact_id = await addContact();
    expect(await stream.next()).toMatchObject({ event: "contact.created" });
    expect(await stream.next()).toMatchObject({ data: { data: { contact_id } } });
    const { response } = await requestStream(app, { key, query: { types: "message.sent" } });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: "insufficient_scope" } });
  });

  test("sends nothing of another organization", async () => {
    const other = await createOrganizationFor(app, "Streams");
    await using stream = await openStream(app, { key: other.key, query: { types } });
    await addContact();
    const { data } = await app.call(
      contacts.create_contact,
      { phone_number: "+14155558888" },
      { key: other.key },
    );
    expect(await stream.next()).toMatchObject({ data: { data: { contact_id: data.id } } });
  });

  test("ends when its key is deleted", async () => {
    const { id, secret_key: key } = await createKey("contacts:read");
    const stream = await openStream(app, { key });
    await app.call(apiKeys.delete_api_key, { id });
    expect(await stream.next()).toBeUndefined();
  });

  test("ends when the role of its user changes", async () => {
    const owner = await app.call(auth.login, { email: ownerEmail, password: ownerPassword });
    const key = owner.data.access_token;
    const person = { name: "Mira", email: "mira@example.com", password: "correct horse battery" };
    const { data: user } = await app.call(users.create_user, { ...person, role: "admin" }, { key });
    const { data } = await app.call(auth.login, { email: person.email, password: person.password });
    const stream = await openStream(app, { token: data.access_token });
    expect(stream.first?.event).toBe("open");
    await app.call(users.update_user, { id: user.id, role: "agent" }, { key });
    expect(await stream.next()).toBeUndefined();
  });

  test("keeps its events on demand recorded while it is open", async () => {
    await using stream = await openStream(app, { query: { types } });
    for (let days = 0; days < 12; days += 6) {
      await app.advanceTime(6 * day);
      const contact_id = await addContact();
      expect(await stream.next()).toMatchObject({ data: { data: { contact_id } } });
    }
  });

  test("gets nothing more while its queue is full, though others go on from the same cursor", async () => {
    const world = await readWorld(app);
    const caller = await readCaller(app);
    const cursor = await readSnapshot(world.database.queries);
    const start = { caller, types: new Set([types]), cursor, showsPresence: false };
    const open = () => getEventStreams(world).open({ ...start, writeCursor: (text) => text });
    const [taking, waiting] = [open(), open()];
    const taken = taking[Symbol.asyncIterator]();
    const waited = waiting[Symbol.asyncIterator]();
    const count = async (stream: AsyncIterator<Uint8Array>) =>
      String((await stream.next()).value).split("event: ").length - 1;
    // More than the queue holds.
    await fillEvents(60);
    expect(await count(taken)).toBe(60);
    await fillEvents(1);
    expect(await count(taken)).toBe(1);
    expect([await count(waited), await count(waited)]).toEqual([60, 1]);
    taking.close();
    waiting.close();
  });

  /** Records events of 10 kB. */
  async function fillEvents(count: number): Promise<void> {
    await sql`
      insert into events (organization_id, id, type, body, order_key, created_at)
      select organizations.id, 'evt_' || gen_random_uuid(), ${types}, to_json(repeat('x', 10000))::text, '', ${app.now().toISOString()}
      from generate_series(1, ${count}::int), (select id from organizations order by id limit 1) as organizations
    `.execute(app.server.database.queries);
  }

  test("says that older events are missing", async () => {
    const stream = await openStream(app, { query: { types } });
    await addContact();
    const last = await stream.next();
    stream.abort();
    await app.advanceTime(31 * day);
    await using later = await openStream(app, { query: { types }, lastId: last?.id ?? "" });
    expect(later.first).toMatchObject({ event: "gap" });
    const contact_id = await addContact();
    expect(await later.next()).toMatchObject({ data: { data: { contact_id } } });
  });
});

test("a stream ends when the service stops", async () => {
  const stopping = await startTestApp();
  const stream = await openStream(stopping);
  await stopping[Symbol.asyncDispose]();
  expect(await stream.next()).toBeUndefined();
});

describe("a stream is refused", () => {
  test.each([
    ["an unknown type", { types: "contact.made" }, "types"],
    ["another parameter", { type: "x" }, "type"],
    ["a wrong cursor", { after: "yesterday" }, "after"],
  ])("with %s", async (_, query, param) => {
    const { response } = await requestStream(app, { query });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });

  test("without a credential, and above ten for one", async () => {
    const missing = await requestStream(app, { key: "" });
    expect(missing.response.status).toBe(401);
    const { secret_key: key } = await createKey("contacts:read");
    const open = await Promise.all(Array.from({ length: 10 }, () => openStream(app, { key })));
    const { response } = await requestStream(app, { key });
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "5"]);
    for (const stream of open) {
      stream.abort();
    }
  });
});
