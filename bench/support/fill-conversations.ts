/** Fills an organization in SQL with conversations that have messages, events and stored responses. */
import { sql } from "kysely";
import type { Queries } from "../../src/database/database.ts";

export interface FillOptions {
  readonly organization: string;
  /** Each conversation has its own contact. */
  readonly conversations: number;
  readonly messages: number;
  readonly events: number;
  readonly responses: number;
  /**
   * The first conversations have this many messages, events and responses each; the other conversations share
   * the remaining ones evenly.
   */
  readonly first: { readonly conversations: number; readonly rowsEach: number };
}

export async function fillConversations(queries: Queries, options: FillOptions): Promise<void> {
  const { organization, conversations, messages, events, responses } = options;
  const numbers = (count: number) => sql`(
    select n, (${conversationOf(options)})::int as c, now() - n * interval '10 milliseconds' as at
    from generate_series(1, ${count}::int) as n
  ) as made`;
  await sql`
    insert into contacts (organization_id, id, phone_number, name, search_text, created_at, updated_at)
    select ${organization}, ${idOf("con")}, '+1' || (2000000000 + c), 'Contact ' || c, 'contact ' || c, now(), now()
    from generate_series(1, ${conversations}::int) as c
  `.execute(queries);
  await sql`
    insert into contact_identities (organization_id, kind, value, contact_id, created_at)
    select organization_id, 'phone', phone_number, id, created_at from contacts where organization_id = ${organization}
  `.execute(queries);
  await sql`
    insert into conversations (organization_id, id, inbox_id, contact_id, status, last_message_at, created_at, updated_at)
    select ${organization}, ${idOf("conv")}, (select id from inboxes where organization_id = ${organization} limit 1),
      ${idOf("con")}, 'open', now(), now(), now()
    from generate_series(1, ${conversations}::int) as c
  `.execute(queries);
  await sql`
    insert into messages (organization_id, id, conversation_id, direction, type, content, "from", "to", status, created_at)
    select ${organization}, ${idOf("msg", "n")}, ${idOf("conv")}, 'outbound', 'text',
      jsonb_build_object('text', jsonb_build_object('body', 'Message number ' || n)), '+14155550100', '+1' || (2000000000 + c),
      'read', at
    from ${numbers(messages)}
  `.execute(queries);
  await sql`
    insert into events (organization_id, id, type, body, order_key, conversation_id, created_at)
    select ${organization}, ${idOf("evt", "n")}, 'message.sent', ${bodyOfMessage}::text, ${idOf("conv")}, ${idOf("conv")}, at
    from ${numbers(events)}
  `.execute(queries);
  await sql`
    insert into idempotency (organization_id, credential_id, route, key, request_hash, status, body, subjects, created_at)
    select ${organization}, 'key_bench', '/v1/messages', 'key ' || n, md5(n::text), 202, ${bodyOfMessage},
      array[${idOf("con")}, ${idOf("conv")}], at
    from ${numbers(responses)}
  `.execute(queries);
}

/** An id with the length of the service's ids. */
function idOf(prefix: string, column: "n" | "c" = "c") {
  return sql`${sql.lit(`${prefix}_`)} || lpad(to_hex(${sql.ref(column)}::int), 26, '0')`;
}

/** About 500 bytes, in the form in which the service stores bodies. */
const bodyOfMessage = sql`json_build_object('data', json_build_object(
  'id', ${idOf("msg", "n")}, 'conversation_id', ${idOf("conv")}, 'contact_id', ${idOf("con")}, 'direction', 'outbound',
  'type', 'text', 'status', 'queued', 'from', '+14155550100', 'to', '+1' || (2000000000 + c),
  'text', json_build_object('body', repeat('Your order is on its way. ', 9)), 'created_at', at
))`;

function conversationOf({ conversations, first }: FillOptions) {
  const rows = first.conversations * first.rowsEach;
  return sql`case when n <= ${sql.lit(rows)} then 1 + n % ${sql.lit(first.conversations)}
    else 1 + ${sql.lit(first.conversations)} + n % ${sql.lit(conversations - first.conversations)} end`;
}
