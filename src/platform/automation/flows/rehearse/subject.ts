/**
 * The subject of a rehearsal: a contact of the organization with its conversation, both read only, or sample
 * values.
 */
import type { z } from "zod";
import { fail } from "../../../../../tools/errors.ts";
import type { flows as contract } from "../../../../../tools/flows/index.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { getOrDefaultInbox, normalizePhone } from "../../../account/inboxes/index.ts";
import { type ReadContext, requireScope } from "../../../foundation/kernel/index.ts";
import { type ContactRow, noIdentities } from "../../../inbox/contacts/index.ts";
import type { ConversationRow } from "../../../inbox/conversations/index.ts";

type Input = z.output<typeof contract.rehearse_flow.input>;

/** The id of a sample contact, which is stored nowhere. */
export const sampleId = "rehearsal";

/** The number of a sample contact if the caller gives none. */
const samplePhone = "+12025550100";

/**
 * The contact, the conversation and its inbox at `start`. `inbox_id` is the inbox of the flow.
 * @throws Failure `contact_not_found`, `insufficient_scope`, `invalid_phone_number`, `no_inbox`.
 */
export async function readSubject(
  { contact: wanted = {}, conversation: values = {} }: Input,
  context: ReadContext,
  { inbox_id, start }: { readonly inbox_id: string | null; readonly start: Date },
) {
  const { db, organization } = context;
  const contact =
    wanted.id === undefined
      ? await sampleContact(wanted, context, start)
      : await readContact(wanted.id, context);
  const found = wanted.id === undefined ? undefined : await findLatest(context, wanted.id, inbox_id);
  const inbox = await getOrDefaultInbox(db, organization, found?.inbox_id ?? inbox_id ?? undefined);
  const conversation = found ?? sampleConversation({ contact, inbox_id: inbox.id, at: start.toISOString() });
  const { status = conversation.status, tags = conversation.tags, last_user_message_at } = values;
  const lastWritten = last_user_message_at ?? conversation.last_user_message_at;
  const snoozed_until = status === conversation.status ? conversation.snoozed_until : null;
  return {
    contact,
    inbox,
    conversation: { ...conversation, status, snoozed_until, tags, last_user_message_at: lastWritten },
  };
}

/** Requires the scope for contacts, because the flow's texts can show the contact's data. */
async function readContact(id: string, { db, organization, caller }: ReadContext): Promise<ContactRow> {
  requireScope(caller, "contacts:read");
  const contact = await ofOrganization(db, organization)
    .selectFrom("contacts")
    .selectAll()
    .where("id", "=", id)
    .where("erased_at", "is", null)
    .executeTakeFirst();
  if (!contact) {
    throw fail("contact_not_found", { param: "contact.id" });
  }
  return contact;
}

async function sampleContact(
  { name, phone_number: text = samplePhone, metadata = {}, tags = [] }: NonNullable<Input["contact"]>,
  { db, organization }: ReadContext,
  start: Date,
): Promise<ContactRow> {
  const phone_number = await normalizePhone(db, organization, { text, field: "contact.phone_number" });
  const at = start.toISOString();
  return {
    organization_id: organization,
    id: sampleId,
    ...noIdentities,
    phone_number,
    name: name ?? null,
    metadata,
    tags,
    search_text: "",
    opted_out: false,
    blocked_at: null,
    blocked_reason: null,
    created_at: at,
    updated_at: at,
    erased_at: null,
    country: null,
    normalized: null,
    normalized_at: null,
    consent_at: null,
    dates: null,
  };
}

/** An open conversation without messages, for a contact without a conversation. */
function sampleConversation({
  contact,
  inbox_id,
  at,
}: {
  readonly contact: ContactRow;
  readonly inbox_id: string;
  readonly at: string;
}): ConversationRow {
  return {
    organization_id: contact.organization_id,
    id: "rehearsal",
    inbox_id,
    contact_id: contact.id,
    status: "open",
    snoozed_until: null,
    is_favorite: false,
    is_unread: false,
    unread_count: 0,
    tags: [],
    last_message_at: null,
    last_user_message_at: null,
    last_received_at: null,
    last_agent_message_at: null,
    assigned_to: null,
    team_id: null,
    erased_at: null,
    waiting_since: null,
    queued_at: null,
    policy_id: null,
    referrals: null,
    opens_on_answer: false,
    may_be_automated: false,
    created_at: at,
    updated_at: at,
  };
}

/** The contact's latest conversation, in the flow's inbox if it has one. */
async function findLatest({ db, organization }: ReadContext, contact_id: string, inbox_id: string | null) {
  return ofOrganization(db, organization)
    .selectFrom("conversations")
    .selectAll()
    .where("contact_id", "=", contact_id)
    .$if(inbox_id !== null, (rows) => rows.where("inbox_id", "=", inbox_id ?? ""))
    .orderBy("last_message_at", (order) => order.desc().nullsLast())
    .limit(1)
    .executeTakeFirst();
}
