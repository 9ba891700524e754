/** Explains one message: the call behind it, the reasons, and what became of it. */
import type { z } from "zod";
import type { activity as contract } from "../../../../tools/activity.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { ReadContext } from "../../foundation/kernel/index.ts";
import { waitOf } from "../../inbox/messages/index.ts";
import { listEntries } from "../ledger/index.ts";
import { findDeliveries } from "./deliveries.ts";
import { findMessage } from "./message.ts";
import { findCall, findPlan, findReasons } from "./reasons.ts";
import { serializeAct } from "./rows.ts";

type MessageHistory = z.input<typeof contract.explain_message.output>["data"];

/** More receipts and ledger entries than a message has. */
const maxRows = 100;

/** @throws Failure `message_not_found`. */
export async function explainMessage(context: ReadContext, id: string): Promise<MessageHistory> {
  const { db, organization, caller } = context;
  const message = await findMessage(db, organization, id);
  const canReadKeys = caller.scopes.has("tokens:read");
  const [reasons, receipts, money, webhooks] = await Promise.all([
    findReasons(db, organization, message),
    findReceipts(db, organization, id),
    listEntries(db, organization, { message_id: id, page: 1, per_page: maxRows }),
    canReadKeys ? findDeliveries(db, organization, message) : null,
  ]);
  const { broadcast, flow } = reasons;
  const call = await findCall(db, organization, message, [broadcast?.id, flow?.run_id]);
  const plan = call && (await findPlan(db, organization, call));
  const { contact_id, refusals, delay, claimed_at, channel_message_id, ...shown } = message;
  const status = shown.status === "sending" ? "queued" : shown.status;
  return {
    message: { ...shown, status, waiting_for: waitOf(message, context.now) },
    contact_id,
    call: call && canReadKeys ? serializeAct(call) : null,
    reasons: { ...reasons, plan: plan ?? null },
    attempts: {
      refused: refusals,
      last_at: claimed_at,
      last_error: delay?.last_error ?? null,
      channel_message_id,
    },
    receipts,
    webhooks,
    money: money.data,
  };
}

function findReceipts(db: Queries, organization: string, id: string) {
  return ofOrganization(db, organization)
    .selectFrom("message_receipts")
    .select(["type", "occurred_at", "error"])
    .where("message_id", "=", id)
    .orderBy("occurred_at")
    .limit(maxRows)
    .execute();
}
