/** Lists of conversations read an index, whatever the filter: explained on many conversations. */
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { useTestApp } from "./support/app.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();

beforeAll(async () => {
  await openPhone(app, "+14155550197").write("hi");
  const { queries } = app.server.database;
  const clone = sql`from conversations as one, generate_series(1, 5000) as number where one.id not like 'conv_x%'`;
  await sql`
    insert into contacts (organization_id, id, metadata, created_at, updated_at)
    select organization_id, 'con_x' || number, '{}', created_at, updated_at ${clone}
  `.execute(queries);
  await sql`
    insert into inboxes (organization_id, id, name, channel, platform, phone_number, created_at, updated_at)
    select organization_id, 'inb_rare', name, channel, platform, '+14155550198', created_at, updated_at from inboxes
  `.execute(queries);
  // One of a hundred is in the rare inbox, and one of a hundred has an expired window.
  await sql`
    insert into conversations (organization_id, id, inbox_id, contact_id, status, last_message_at, last_user_message_at,
      created_at, updated_at)
    select organization_id, 'conv_x' || number, case when number % 100 = 0 then 'inb_rare' else inbox_id end,
      'con_x' || number, 'open', one.created_at,
      one.created_at - make_interval(hours => case when number % 100 = 1 then 48 else 1 end), created_at, updated_at
    ${clone}
  `.execute(queries);
  await sql`analyze conversations`.execute(queries);
});

test.each([
  [
    "an inbox",
    "conversations_inbox",
    () => sql`inbox_id = 'inb_rare' order by last_message_at desc nulls last, id desc limit 25`,
  ],
  ["the count of an inbox", "conversations_inbox", () => sql`inbox_id = 'inb_rare'`],
  [
    "expired windows",
    "conversations_user_message",
    () => sql`last_user_message_at <= ${new Date(app.now().getTime() - 24 * 3_600_000).toISOString()}`,
  ],
])("%s", async (_, index, condition) => {
  const { queries } = app.server.database;
  const { rows } = await sql<{ "QUERY PLAN": string }>`
    explain select id from conversations
    where organization_id = (select id from organizations) and erased_at is null and ${condition()}
  `.execute(queries);
  expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toContain(index);
});
