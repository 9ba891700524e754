/** Conversations: one thread for each contact and inbox, its status and its 24-hour window. */
import { type ExpressionBuilder, sql } from "kysely";
import {
  type ConversationStatus,
  conversations as contract,
  type conversationFilters,
} from "../../tools/conversations.ts";
import { fail } from "../../tools/failure.ts";
import type { Queries, Transaction } from "../database/database.ts";
import { newId } from "../database/id.ts";
import type { Tables } from "../database/schema.ts";
import { implement } from "./core/module.ts";
import { readPage } from "./core/page.ts";
import type { Caller } from "./core/world.ts";

/** How long free text may follow the contact's last message. */
export const windowMs = 24 * 3_600_000;

export const conversations = implement(contract, {
  unbuilt: ["assign_conversation", "transfer_conversation"],
  operations: {
    async list_conversations({ filter, page, per_page, ...equal }, { db, organization, caller, now }) {
      let found = threads(db, organization);
      for (const [column, value] of Object.entries(equal)) {
        // The remaining inputs are named as the columns that they compare with.
        found =
          value === undefined
            ? found
            : found.where(`conversations.${column as keyof typeof equal}`, "=", value);
      }
      if (filter) {
        found = found.where((rows) => filters[filter](rows, caller, now));
      }
      const shown = found
        .selectAll("conversations")
        .select(["contacts.name as contact_name", "contacts.phone_number", "inboxes.platform"])
        .orderBy("last_message_at", (order) => order.desc().nullsLast())
        .orderBy("conversations.id", "desc");
      const { rows, meta } = await readPage(shown, { page, per_page });
      return { data: rows.map((row) => ({ ...row, ...windowOf(row, now) })), meta };
    },

    async get_conversation({ id }, { db, organization, now }) {
      const found = await threads(db, organization)
        .leftJoin("users", (join) =>
          join
            .onRef("users.organization_id", "=", "conversations.organization_id")
            .onRef("users.id", "=", "conversations.assigned_to"),
        )
        .selectAll("conversations")
        .select(["contacts.name as contact_name", "contacts.phone_number", "inboxes.platform"])
        .select("users.name as assigned_to_name")
        .where("conversations.id", "=", id)
        .executeTakeFirst();
      if (!found) {
        throw fail("conversation_not_found");
      }
      return { data: { ...found, ...windowOf(found, now) } };
    },
  },
});

/** Whether free text may be sent now, until when, and whether a window there was has lapsed. */
export function windowOf(conversation: { last_user_message_at: string | null }, now: Date) {
  const { last_user_message_at } = conversation;
  if (last_user_message_at === null) {
    return { is_within_24h_window: false, window_expires_at: null, is_expired: false };
  }
  const expiresAt = Date.parse(last_user_message_at) + windowMs;
  const isOpen = now.getTime() < expiresAt;
  return {
    is_within_24h_window: isOpen,
    window_expires_at: new Date(expiresAt).toISOString(),
    is_expired: !isOpen,
  };
}

/** Whether the inbox refuses free text outside the window, or only warns (the simulated channel's default). */
export function isWindowStrict(inbox: { channel: string; settings: Record<string, unknown> }): boolean {
  const rule = inbox.settings.service_window ?? (inbox.channel === "simulator" ? "advisory" : "strict");
  return rule === "strict";
}

/** The organization's inbox: the one with this number, or its first. */
export async function getInbox(db: Queries, organization: string, phone_number: string | null = null) {
  return db
    .selectFrom("inboxes")
    .selectAll()
    .where("organization_id", "=", organization)
    .$if(phone_number !== null, (query) => query.where("phone_number", "=", phone_number ?? ""))
    .orderBy("id")
    .executeTakeFirst();
}

/** The thread of a contact in an inbox, made as `open` if there is none; its row is locked until the commit. */
export async function openThread(
  tx: Transaction,
  thread: { organization: string; inbox_id: string; contact_id: string; now: Date },
) {
  const { organization, inbox_id, contact_id, now } = thread;
  return tx
    .insertInto("conversations")
    .values({
      organization_id: organization,
      id: newId("conv", now),
      inbox_id,
      contact_id,
      status: "open",
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .onConflict((conflict) =>
      conflict
        .columns(["organization_id", "contact_id", "inbox_id"])
        .doUpdateSet({ updated_at: now.toISOString() }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** What an inbound message makes of a thread's status; spam stays spam, a bot keeps what is pending. */
const afterInbound: Record<ConversationStatus, ConversationStatus> = {
  open: "open",
  pending: "pending",
  closed: "open",
  snoozed: "open",
  spam: "spam",
};

/** Notes that the contact wrote: the window opens anew and the thread comes back. */
export async function noteInbound(
  tx: Transaction,
  conversation: { organization_id: string; id: string; status: ConversationStatus },
  at: string,
): Promise<void> {
  await tx
    .updateTable("conversations")
    .set({
      status: afterInbound[conversation.status],
      snoozed_until: null,
      last_message_at: latest("last_message_at", at),
      last_user_message_at: latest("last_user_message_at", at),
    })
    .where("organization_id", "=", conversation.organization_id)
    .where("id", "=", conversation.id)
    .execute();
}

/** Notes that we wrote; our own messages never open the window. */
export async function noteOutbound(
  tx: Transaction,
  conversation: { organization_id: string; id: string },
  at: string,
): Promise<void> {
  await tx
    .updateTable("conversations")
    .set({
      last_message_at: latest("last_message_at", at),
      last_agent_message_at: latest("last_agent_message_at", at),
      // A person's reply takes the thread over from a bot.
      status: sql`case when status = 'pending' then 'open' else status end`,
    })
    .where("organization_id", "=", conversation.organization_id)
    .where("id", "=", conversation.id)
    .execute();
}

type Time = "last_message_at" | "last_user_message_at" | "last_agent_message_at";

function latest(column: Time, at: string) {
  return sql<string>`greatest(${sql.ref(column)}, ${at}::timestamptz)`;
}

/** Threads whose contact has not been erased. */
function threads(db: Queries, organization: string) {
  return db
    .selectFrom("conversations")
    .innerJoin("contacts", (join) =>
      join
        .onRef("contacts.organization_id", "=", "conversations.organization_id")
        .onRef("contacts.id", "=", "conversations.contact_id"),
    )
    .innerJoin("inboxes", (join) =>
      join
        .onRef("inboxes.organization_id", "=", "conversations.organization_id")
        .onRef("inboxes.id", "=", "conversations.inbox_id"),
    )
    .where("conversations.organization_id", "=", organization)
    .where("contacts.erased_at", "is", null);
}

type Filter = (typeof conversationFilters)[number];
type Rows = ExpressionBuilder<Tables, "conversations">;

const filters: Record<Filter, (rows: Rows, caller: Caller, now: Date) => ReturnType<Rows["and"]>> = {
  assigned_to_me(rows, caller) {
    if (!caller.user) {
      throw fail("needs_user", { value: "assigned_to_me", param: "filter" });
    }
    return rows.and([rows("assigned_to", "=", caller.user.id)]);
  },
  unassigned: (rows) => rows.and([rows("assigned_to", "is", null)]),
  unanswered: (rows) =>
    rows.and([
      rows("last_user_message_at", "is not", null),
      rows.or([
        rows("last_agent_message_at", "is", null),
        rows("last_agent_message_at", "<", rows.ref("last_user_message_at")),
      ]),
    ]),
  expired_window: (rows, _, now) =>
    rows.and([rows("last_user_message_at", "<=", new Date(now.getTime() - windowMs).toISOString())]),
};
