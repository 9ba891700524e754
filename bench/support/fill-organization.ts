/** Fills an organization with contacts, conversations and messages in SQL: some 100,000 rows a second. */
import type pg from "pg";

export interface RowCounts {
  readonly contacts: number;
  readonly conversations: number;
  /** Messages in each conversation except the first. */
  readonly messagesEach: number;
  /** Messages in the first conversation. */
  readonly messagesInFirst: number;
}

const firstNames = "Ada,Bea,Carlos,Dana,Elif,Farid,Grace,Hugo,Inés,José,Kofi,Lukas,Mei,Nadia,Omar,Priya";
const lastNames =
  "García,Müller,Silva,Okafor,Tanaka,Ivanova,Haddad,Nguyen,Rossi,Kowalski,Smith,López,Khan,Diaz";

export async function fillOrganization(
  client: pg.Client,
  organization: string,
  amounts: RowCounts,
): Promise<void> {
  const { contacts, conversations, messagesEach, messagesInFirst } = amounts;
  // The search index is created afterwards, because updating it row by row takes many times as long.
  const { rows } = await client.query<{ indexdef: string; indexname: string }>(
    "select indexname, indexdef from pg_indexes where tablename = 'contacts' and indexdef like '%search%'",
  );
  await client.query(rows.map(({ indexname }) => `drop index ${indexname}`).join("; "));
  await client.query("set maintenance_work_mem = '1GB'");
  await client.query(
    `insert into contacts (organization_id, id, phone_number, name, search_text, tags, created_at, updated_at)
     select $1, 'con_' || lpad(to_hex(n), 24, '0'), number, name, translate(lower(name), 'áéíóúüñ', 'aeiouun') || ' ' || number,
       case when n % 10 = 0 then array['vip'] else '{}' end, at, at
     from (
       select n, '+1' || (2000000000 + n) as number,
         (string_to_array($3, ','))[1 + n % 16] || ' ' || (string_to_array($4, ','))[1 + (n / 16) % 14] || ' ' || n as name,
         timestamptz '2026-01-01' + n * interval '20 seconds' as at
       from generate_series(1, $2::int) as n
     ) as made`,
    [organization, contacts, firstNames, lastNames],
  );
  await client.query(rows.map(({ indexdef }) => indexdef).join("; "));
  await client.query(
    `insert into conversations (organization_id, id, inbox_id, contact_id, status, tags, last_message_at,
       last_user_message_at, waiting_since, created_at, updated_at)
     select $1, 'conv_' || lpad(to_hex(n), 24, '0'), (select id from inboxes where organization_id = $1 limit 1),
       'con_' || lpad(to_hex(n), 24, '0'), (array['open', 'closed', 'closed', 'closed', 'pending'])[1 + n % 5],
       case when n % 20 = 0 then array['billing'] else '{}' end, at, at,
       case when n % 7 = 0 then at end, at, at
     from (select n, timestamptz '2026-01-01' + n * interval '40 seconds' as at from generate_series(1, $2::int) as n) as made`,
    [organization, conversations],
  );
  const insertMessages = `
     insert into messages (organization_id, id, conversation_id, direction, type, content, "from", "to", status, created_at)
     select $1, 'msg_' || lpad(to_hex(n), 24, '0'), 'conv_' || lpad(to_hex(conversation), 24, '0'),
       case when n % 2 = 0 then 'outbound' else 'inbound' end, 'text',
       jsonb_build_object('text', jsonb_build_object('body', 'Message number ' || n)), '+14155550100', '+12000000001',
       case when n % 2 = 0 then 'read' else 'received' end, timestamptz '2026-01-01' + n * interval '4 seconds'`;
  await client.query(
    `${insertMessages} from (select n, 2 + n % ($2::int - 1) as conversation from generate_series(1, $3::int) as n) as made`,
    [organization, conversations, (conversations - 1) * messagesEach],
  );
  await client.query(
    `${insertMessages} from (select $2::int + n as n, 1 as conversation from generate_series(1, $3::int) as n) as made`,
    [organization, conversations * messagesEach, messagesInFirst],
  );
  await client.query("vacuum analyze contacts, conversations, messages");
}
