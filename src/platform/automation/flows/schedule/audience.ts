/**
 * The conversations in which a schedule starts its flow: the conversations of a cohort's contacts, or the
 * open conversations of the flow's inbox (without an inbox, of all).
 *
 * As in a broadcast, contacts that are blocked, erased or without a number are left out. In a cohort,
 * contacts that have opted out are left out too, because they have not written.
 */
import { ofOrganization } from "../../../../database/query/index.ts";
import { getOrDefaultInbox } from "../../../account/inboxes/index.ts";
import type { Change, Transaction } from "../../../foundation/kernel/index.ts";
import {
  type ConversationRow,
  lockConversations,
  lockOrCreateConversations,
} from "../../../inbox/conversations/index.ts";
import { listMemberIds, requireCohort } from "../../cohorts/index.ts";
import type { FlowRow } from "../definitions/find.ts";
import { lockReachable } from "../run/index.ts";

interface Target {
  /** The id of the contact in a cohort, and otherwise of the conversation. */
  readonly id: string;
  readonly conversation: ConversationRow;
}

export interface AudienceBatch {
  /** Locked until the commit. */
  readonly targets: readonly Target[];
  /** The last id of the batch; undefined if there is no next batch. */
  readonly last: string | undefined;
}

export interface AudienceContext extends Pick<Change, "tx" | "world" | "now"> {
  readonly flow: FlowRow;
}

/** Returns undefined if the cohort does not exist or is not ready. */
export async function readAudience(
  context: AudienceContext,
  after: string,
  size: number,
): Promise<AudienceBatch | undefined> {
  const { tx, now, flow } = context;
  const { organization_id: organization, cohort_id } = flow;
  if (cohort_id === null) {
    return readOpen(context, after, size);
  }
  const cohort = await findReadyCohort(tx, organization, cohort_id);
  if (!cohort) {
    return undefined;
  }
  const ids = await listMemberIds(tx, { organization, audience: cohort, now }, { after, limit: size });
  const contact_ids = await lockReachable(context, organization, ids, { isConsentNeeded: true });
  const inbox = await getOrDefaultInbox(tx, organization, flow.inbox_id ?? undefined);
  const conversations = await lockOrCreateConversations(tx, {
    organization,
    inbox_id: inbox.id,
    contact_ids: [...contact_ids],
    now,
  });
  const targets = conversations.map((conversation) => ({ id: conversation.contact_id, conversation }));
  return { targets: targets.filter(isNotSpam), last: lastOf(ids, size) };
}

/** Undefined if the cohort does not exist or is not ready. */
export async function findReadyCohort(tx: Transaction, organization: string, id: string) {
  const cohort = await requireCohort(tx, organization, id).catch(() => undefined);
  return cohort?.status === "ready" ? cohort : undefined;
}

async function readOpen(context: AudienceContext, after: string, size: number): Promise<AudienceBatch> {
  const { tx, flow } = context;
  const { organization_id: organization, inbox_id } = flow;
  const found = await ofOrganization(tx, organization)
    .selectFrom("conversations")
    .select(["id", "contact_id"])
    .where("status", "=", "open")
    .where("erased_at", "is", null)
    .$if(inbox_id !== null, (rows) => rows.where("inbox_id", "=", inbox_id ?? ""))
    .where("id", ">", after)
    .orderBy("id")
    .limit(size)
    .execute();
  const ids = found.map(({ id }) => id);
  const contacts = await lockReachable(
    context,
    organization,
    found.map(({ contact_id }) => contact_id),
  );
  const conversations = await lockConversations(tx, organization, ids);
  const targets = conversations
    .filter(({ status, contact_id }) => status === "open" && contacts.has(contact_id))
    .map((conversation) => ({ id: conversation.id, conversation }));
  return { targets, last: lastOf(ids, size) };
}

/** If there are fewer ids than requested, they are the last ones. */
function lastOf(ids: readonly string[], size: number): string | undefined {
  return ids.length === size ? ids.at(-1) : undefined;
}

function isNotSpam({ conversation }: Target): boolean {
  return conversation.status !== "spam";
}
