/** Lists ledger entries with their causes, which their references name. */
import { type Expression, sql } from "kysely";
import { fromMicros } from "../../../../tools/money.ts";
import type { LedgerEntryType } from "../../../../tools/wallet.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, readPage } from "../../../database/query/index.ts";

/** The types of entries without a message, which an index finds. */
const withoutMessage: readonly LedgerEntryType[] = ["fee", "top_up", "refund", "adjustment", "split"];

interface EntryFilter {
  readonly type?: LedgerEntryType | undefined;
  readonly message_id?: string | undefined;
  readonly broadcast_id?: string | undefined;
  readonly page: number;
  readonly per_page: number;
}

export async function listEntries(
  db: Queries,
  organization: string,
  { type, message_id, broadcast_id, ...paging }: EntryFilter,
) {
  const query = ofOrganization(db, organization)
    .selectFrom("ledger_entries")
    .selectAll()
    .select(Object.entries(causes).map(([name, cause]) => cause.as(name as CauseName)))
    .$if(type !== undefined, (rows) => rows.where("type", "=", type ?? "hold"))
    .$if(withoutMessage.includes(type ?? "hold"), (rows) => rows.where("message_id", "is", null))
    .$if(message_id !== undefined, (rows) => rows.where(hasCause(sql.val(message_id))))
    .$if(broadcast_id !== undefined, (rows) => rows.where(ofBroadcast(organization, broadcast_id ?? "")))
    .orderBy("id", "desc");
  const { rows, meta } = await readPage(query, paging);
  return { data: rows.map((row) => ({ ...row, amount: fromMicros(row.amount) })), meta };
}

/** Selects entries by their references, which begin with this id. The index of references finds them. */
function hasCause(id: Expression<unknown>) {
  return sql<boolean>`reference >= ${id} || ':' and reference < ${id} || ';'`;
}

/** Its own entries, for all recipients together, and those of its messages. */
function ofBroadcast(organization: string, id: string) {
  return sql<boolean>`ledger_entries.id in (
    select id from ledger_entries where organization_id = ${organization} and ${hasCause(sql.val(id))}
    union all
    select entry.id from messages cross join lateral (
      select id from ledger_entries where organization_id = ${organization} and ${hasCause(sql.ref("messages.id"))}
    ) as entry
    where messages.organization_id = ${organization} and messages.broadcast_id = ${id}
  )`;
}

/** The beginning of a reference: the id of a message, a broadcast, an add-on or an answer. */
const first = sql`split_part(ledger_entries.reference, ':', 1)`;

/** The payment that a reference names. */
const ofPayment = sql`
  from payments where payments.organization_id = ledger_entries.organization_id
    and payments.processor_payment_id = split_part(ledger_entries.reference, ':', 2)
    and ledger_entries.type in ('top_up', 'refund')`;

const ofItsMessage = sql`
  from messages where messages.organization_id = ledger_entries.organization_id
    and messages.id = ledger_entries.message_id`;

const causes = {
  conversation_id: sql<string | null>`coalesce((select conversation_id ${ofItsMessage}), (
    select conversation_id from chatbot_units where chatbot_units.organization_id = ledger_entries.organization_id
      and answer_id = ${first} and ledger_entries.type = 'usage'
  ))`,
  broadcast_id: sql<string | null>`coalesce((select broadcast_id ${ofItsMessage}), (
    select id from broadcasts where broadcasts.organization_id = ledger_entries.organization_id
      and broadcasts.id = ${first} and ledger_entries.type in ('hold', 'release')
  ))`,
  payment_id: sql<string | null>`(select id ${ofPayment})`,
  order_id: sql<string | null>`(select processor_order_id ${ofPayment})`,
  addon_id: sql<string | null>`case ledger_entries.type when 'fee' then ${first} end`,
  unit_id: sql<string | null>`case ledger_entries.type when 'usage' then ${first} end`,
  reason: sql<string | null>`(
    select reason from wallet_adjustments where wallet_adjustments.organization_id = ledger_entries.organization_id
      and wallet_adjustments.id = ledger_entries.reference and ledger_entries.type = 'adjustment'
  )`,
};

type CauseName = keyof typeof causes;
