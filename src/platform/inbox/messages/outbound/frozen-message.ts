/** A message as a plan has frozen it, and the check that exactly this message is sent. */
import { sql } from "kysely";
import { z } from "zod";
import { fail } from "../../../../../tools/errors.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { MessageRow } from "../progress/index.ts";

export const FrozenMessage = z.object({
  to: z.string(),
  /** Null if the contact did not exist when it was planned. */
  contact_id: z.string().nullable(),
  inbox_id: z.string(),
  /** The content of the message as it is stored. */
  content: z.unknown(),
  /** In millionths of the currency's unit. */
  price: z.object({ amount: z.number(), currency: z.string() }).nullable(),
  /** The id of the conversation's last message when it was planned; "" without one. */
  after: z.string(),
  /** The id of the actor who planned it. */
  planned_by: z.string(),
});
export type FrozenMessage = z.infer<typeof FrozenMessage>;

interface CurrentMessage {
  readonly to: string;
  /** Null if the contact is new. */
  readonly contact_id: string | null;
  readonly inbox_id: string;
  readonly content: MessageRow["content"];
  readonly charge: MessageRow["charge"];
  /** The locked conversation; null if there is none. */
  readonly conversation: { readonly organization_id: string; readonly id: string } | null;
}

/** @throws Failure `plan_lapsed`, `plan_changed`. */
export async function requireAsPlanned(
  db: Queries,
  planned: FrozenMessage,
  current: CurrentMessage,
): Promise<void> {
  if (current.conversation && (await wentOn(db, planned, current.conversation))) {
    throw fail("plan_lapsed");
  }
  const reason = describeChange(planned, current);
  if (reason !== undefined) {
    throw fail("plan_changed", { reason });
  }
}

function describeChange(planned: FrozenMessage, current: CurrentMessage): string | undefined {
  if (planned.to !== current.to || planned.inbox_id !== current.inbox_id) {
    return "the message would go to another address, or from another inbox";
  }
  // The contact was erased, or the address belongs to another contact.
  if (planned.contact_id !== null && planned.contact_id !== current.contact_id) {
    return "the contact is another one";
  }
  // The same code has made both, so their members have the same order.
  if (JSON.stringify(planned.content) !== JSON.stringify(current.content)) {
    return "the message would have another content";
  }
  return isDearer(planned.price, priceOfCharge(current.charge)) ? "the price rose" : undefined;
}

export function priceOfCharge(charge: MessageRow["charge"]): FrozenMessage["price"] {
  return charge && { amount: charge.price, currency: charge.currency };
}

function isDearer(planned: FrozenMessage["price"], current: FrozenMessage["price"]): boolean {
  return (
    current !== null &&
    (planned === null || planned.currency !== current.currency || current.amount > planned.amount)
  );
}

/** Whether the contact has written since, or a person or key other than the planner has. */
async function wentOn(
  db: Queries,
  { after, planned_by }: FrozenMessage,
  { organization_id, id }: { readonly organization_id: string; readonly id: string },
): Promise<boolean> {
  const later = await ofOrganization(db, organization_id)
    .selectFrom("messages")
    .select("id")
    .where("conversation_id", "=", id)
    .where("id", ">", after)
    .where(
      sql<boolean>`(direction = 'inbound' or (broadcast_id is null and sent_by ->> 'type' in ('user', 'api_key', 'phone')
        and sent_by ->> 'id' <> ${planned_by}))`,
    )
    .limit(1)
    .executeTakeFirst();
  return later !== undefined;
}

/** The id of the conversation's last message; "" if there is none. */
export async function readLastMessage(
  db: Queries,
  conversation: CurrentMessage["conversation"],
): Promise<string> {
  const last =
    conversation &&
    (await ofOrganization(db, conversation.organization_id)
      .selectFrom("messages")
      .select("id")
      .where("conversation_id", "=", conversation.id)
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst());
  return last?.id ?? "";
}
