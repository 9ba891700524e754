/**
 * The process of the yardstick: a bare `pg` client that stores messages with the nine statements that
 * `send_message` of version 0.1.0 ran, one after another, in a transaction each.
 *
 * The statements are named, so each is parsed once per connection. Rows and values are the same as in the
 * service.
 */
import pg from "pg";
import { startEmbedded } from "../../../src/database/embedded/index.ts";
import { newId } from "../../../src/database/id.ts";
import { runClosedLoop } from "../load.ts";
import type { Place } from "./subject.ts";
import type { YardstickLoad } from "./yardstick.ts";

const place: Place = JSON.parse(process.argv[2] ?? "{}");
const recipients = Number(process.argv[3]);
const connections = 16;

const { url, dataDir } = place;
const engine =
  url === undefined
    ? await startEmbedded({ dataDir, ownership: undefined, onFailure: () => process.exit(1) })
    : undefined;
const pool = new pg.Pool(engine?.settings ?? { connectionString: url, max: connections });
const { rows } = await pool.query<{ organization_id: string; id: string; hash: string }>(
  "select organization_id, id, hash from api_keys order by id limit 1",
);
const [apiKey] = rows;
if (!apiKey) {
  throw new Error("The database has no API key.");
}
const { organization_id, hash } = apiKey;
const sentBy = JSON.stringify({ type: "api_key", id: apiKey.id, name: "Bootstrap" });
let sent = 0;

process.on("message", ({ ms }: YardstickLoad) => {
  runClosedLoop({ connections, ms }, storeMessage).then((result) => process.send?.(result), exitWith);
});
process.on("disconnect", () => {
  close().then(() => process.exit(0), exitWith);
});
process.send?.("ready");

async function close(): Promise<void> {
  await pool.end();
  await engine?.[Symbol.asyncDispose]();
}

function exitWith(error: unknown): void {
  console.error(error);
  process.exit(1);
}

async function storeMessage(): Promise<boolean> {
  const number = sent++;
  const to = `+1415${5_000_000 + (number % recipients)}`;
  const client = await pool.connect();
  const run = async (name: string, text: string, values: unknown[]) =>
    (await client.query({ name, text, values })).rows[0];
  try {
    await run("key", selectKey, [hash]);
    await client.query("begin");
    const contact = await run("contact", selectContact, [organization_id, "phone", to]);
    const inbox = await run("inbox", selectInbox, [contact.id, organization_id, 1]);
    const now = new Date();
    const at = now.toISOString();
    const conversation = await run("conversation", upsertConversation, [
      organization_id,
      newId("conv", now),
      inbox.id,
      contact.id,
      "open",
      at,
      at,
      at,
    ]);
    const id = newId("msg", now);
    await run("message", insertMessage, [
      organization_id,
      id,
      conversation.id,
      "outbound",
      "text",
      JSON.stringify({ text: { body: `Your order ${number} has been shipped.` } }),
      inbox.phone_number,
      to,
      "queued",
      sentBy,
      at,
    ]);
    const job = {
      id: newId("job", now),
      name: "message.deliver",
      lane: `channel:${inbox.id}`,
      key: conversation.id,
      organization_id,
      payload: { organization_id, message_id: id },
      run_at: at,
      subject: conversation.id,
    };
    await run("job", insertJob, [at, JSON.stringify([job])]);
    await run("outbound", updateConversation, [at, organization_id, conversation.id]);
    await client.query("commit");
    return true;
  } finally {
    client.release();
  }
}

const selectKey = `
  select api_keys.*, users.role as creator_role, users.is_active as creator_is_active
  from api_keys
  left join users on users.organization_id = api_keys.organization_id and users.id = api_keys.created_by
  where api_keys.hash = $1`;
const selectContact = `
  select contacts.*, contact_identities.kind
  from contact_identities
  join contacts on contacts.organization_id = contact_identities.organization_id
    and contacts.id = contact_identities.contact_id
  where contact_identities.organization_id = $1 and kind = $2 and value = $3 and contacts.erased_at is null
  for key share of contacts`;
const selectInbox = `
  select inboxes.* from inboxes
  left join conversations on conversations.organization_id = inboxes.organization_id
    and conversations.inbox_id = inboxes.id and conversations.contact_id = $1
  where inboxes.organization_id = $2
  order by conversations.last_message_at desc nulls last, inboxes.id
  limit $3`;
const upsertConversation = `
  insert into conversations (organization_id, id, inbox_id, contact_id, status, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (organization_id, contact_id, inbox_id) do update set updated_at = $8
  returning *`;
const insertMessage = `
  insert into messages (organization_id, id, conversation_id, direction, type, content, "from", "to", status,
    sent_by, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
  returning *`;
const insertJob = `
  insert into jobs (id, name, lane, key, organization_id, payload, run_at, subject, traceparent, created_at)
  select id, name, lane, key, organization_id, payload, run_at, subject, traceparent, $1::timestamptz
  from jsonb_to_recordset($2::jsonb)
    as row (id text, name text, lane text, key text, organization_id text, payload jsonb, run_at timestamptz,
      subject text, traceparent text)`;
const updateConversation = `
  update conversations set last_message_at = greatest(last_message_at, $1::timestamptz)
  where organization_id = $2 and id = $3`;
