/** Inbound messages that arrive together and share a transaction. */
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import type { World } from "../src/platform/foundation/kernel/index.ts";
import { receiveMessage } from "../src/platform/inbox/messages/index.ts";
import { modules } from "../src/platform/index.ts";
import type { Identities } from "../src/ports/channel/address.ts";
import { silentLog, useTestApp } from "./support/app.ts";
import { createWalletHelpers, setPrices } from "./support/wallet.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const logged: object[] = [];
const log = { ...silentLog, debug: (fields: object) => void logged.push(fields) };
const app = useTestApp({ enabledModules: { ...modules, probe }, log });
const { organization } = createWalletHelpers(app);
let world: World;
let organization_id: string;

beforeAll(async () => {
  world = await readWorld(app);
  organization_id = await organization();
  await setPrices(app);
});

let last = 5_550_700;

interface Sent {
  readonly from?: Identities;
  readonly id?: string;
  readonly reply_to?: string;
}

/** Receives a message, by default of a new contact. */
function receive(body: string, sent: Sent = {}) {
  last += 1;
  const { from = { phone: `+1415${last}` }, id = `in.${last}`, reply_to } = sent;
  return receiveMessage(world, {
    organization_id,
    channel: "simulator",
    channel_message_id: id,
    from,
    to: null,
    name: null,
    occurred_at: app.now().toISOString(),
    content: { type: "text", text: { body } },
    ...(reply_to === undefined ? {} : { reply_to }),
  });
}

/** Receives a message of a new contact for each text, at once. */
function receiveTogether(...texts: readonly string[]) {
  return Promise.allSettled(texts.map((body) => receive(body)));
}

async function readConversation(id: string) {
  const { queries } = app.server.database;
  const [conversation, messages] = await Promise.all([
    queries.selectFrom("conversations").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    queries.selectFrom("messages").selectAll().where("conversation_id", "=", id).orderBy("id").execute(),
  ]);
  const texts = messages.map(
    ({ id: name, content, reply_to }) => [name, content.text?.body, reply_to] as const,
  );
  return { unread: conversation.unread_count, texts };
}

test("the wallet is changed after every conversation, as in sending, so that the two never deadlock", async () => {
  const { queries } = app.server.database;
  await sql`create table steps (id serial, step text, transaction text default pg_current_xact_id()::text)`.execute(
    queries,
  );
  await sql`
    create function record_step() returns trigger language plpgsql as $$
    begin
      insert into steps (step) values (tg_table_name);
      return null;
    end $$`.execute(queries);
  for (const table of ["conversations", "ledger_entries"]) {
    const trigger = sql`create trigger record_step after insert on ${sql.table(table)} for each row execute function record_step()`;
    await trigger.execute(queries);
  }
  await receiveTogether("Hello", "STOP", "Hi", "stop", "Good morning");
  const { rows } = await sql<{ step: string; transaction: string }>`
    select step, transaction from steps order by id`.execute(queries);
  expect(new Set(rows.map(({ transaction }) => transaction)).size).toBe(1);
  expect(rows.map(({ step }) => step)).toEqual([
    ...Array.from({ length: 5 }, () => "conversations"),
    "ledger_entries",
    "ledger_entries",
  ]);
});

test("several of one person are stored in their order, and one may quote another", async () => {
  const from = { phone: "+14155550123" };
  const [first, other, second] = await Promise.all([
    receive("one", { from, id: "in.quoted" }),
    receive("of another person"),
    receive("two", { from, reply_to: "in.quoted" }),
  ]);
  expect(other.conversation_id).not.toBe(first.conversation_id);
  expect(await readConversation(first.conversation_id)).toEqual({
    unread: 2,
    texts: [
      [first.message_id, "one", null],
      [second.message_id, "two", first.message_id],
    ],
  });
});

test("several of one contact, each with another identity, have one conversation", async () => {
  const from = { phone: "+14155550124", bsuid: "US.5550124" };
  const { conversation_id } = await receive("both", { from });
  const names = await Promise.all([
    receive("by the number", { from: { phone: from.phone } }),
    receive("by the id", { from: { bsuid: from.bsuid } }),
  ]);
  expect(names.map((one) => one.conversation_id)).toEqual([conversation_id, conversation_id]);
  const { unread, texts } = await readConversation(conversation_id);
  expect([unread, texts.map(([, text]) => text)]).toEqual([3, ["both", "by the number", "by the id"]]);
});

test("one that is reported twice is stored once", async () => {
  const from = { phone: "+14155550125" };
  const [one, again] = await Promise.all([
    receive("Hello", { from, id: "in.twice" }),
    receive("Hello", { from, id: "in.twice" }),
  ]);
  expect(again).toEqual(one);
  expect(await readConversation(one.conversation_id)).toMatchObject({
    unread: 1,
    texts: [[one.message_id, "Hello", null]],
  });
});

test("one that can't be stored fails alone, and the log says why", async () => {
  const { queries } = app.server.database;
  await sql`alter table messages add constraint fault check (content #>> '{text,body}' <> 'fault')`.execute(
    queries,
  );
  logged.length = 0;
  const results = await receiveTogether("Hello", "fault", "Hi");
  await sql`alter table messages drop constraint fault`.execute(queries);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  const err = expect.objectContaining({ code: "23514" });
  expect(logged).toContainEqual({ organization_id, err });
});
