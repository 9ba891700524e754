/**
 * Counts what the chatbot add-on charges for: answers, or sessions of 24 hours.
 *
 * The code that gives answers calls `requireAllowance` before an answer, and `recordUnit` in the transaction
 * that stores the answer.
 */
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { defineRetentionJob, type Transaction, type World } from "../../foundation/kernel/index.ts";
import { failInsufficient, readAvailable } from "../wallet/index.ts";
import { type AddonRow, changeAddon, findAddon, pricesOf, realMoney, toState } from "./addon-rows.ts";
import { feeDue, hasEnded, isUsable, passTime, useUnit } from "./addon-states.ts";

/** A session lasts this long from its first answer. */
const sessionMs = 24 * 3_600_000;

interface Answer {
  readonly organization: string;
  readonly conversation_id: string;
  /** Unique among all answers: the same answer counts once. */
  readonly answer_id: string;
  /** Whether the answer is a message. Then the message's ledger entries include the charge. */
  readonly isMessage: boolean;
  readonly now: Date;
}

/** Counts an answer, in the transaction that stores it. Returns whether a unit was counted. */
export async function recordUnit(tx: Transaction, world: World, answer: Answer): Promise<boolean> {
  const { organization, answer_id, isMessage, now } = answer;
  if (!(await findAddon(tx, organization))) {
    return false;
  }
  let isCounted = false;
  await changeAddon(tx, world, {
    organization,
    now,
    usage: { reference: `${answer_id}:usage`, message_id: isMessage ? answer_id : null },
    async apply(account, row) {
      isCounted = !hasEnded(account.state, now) && (await insertUnit(tx, row, answer));
      return isCounted ? useUnit(account, now) : account;
    },
  });
  return isCounted;
}

/**
 * Whether an answer may be given. Without an add-on, or after a cancelled one has ended, answers are not
 * counted.
 * @throws Failure `insufficient_funds` while the add-on is suspended: the wallet has to pay what it owes
 *   first.
 */
export async function requireAllowance(
  db: Queries,
  world: World,
  { organization, now }: Pick<Answer, "organization" | "now">,
): Promise<void> {
  const row = await findAddon(db, organization);
  if (!row || hasEnded({ endsAt: row.ends_at === null ? null : new Date(row.ends_at) }, now)) {
    return;
  }
  const available =
    world.wallet.mode === "off"
      ? Number.POSITIVE_INFINITY
      : await readAvailable(db, world, realMoney(organization));
  const account = { state: toState(row), prices: pricesOf(row), available, charges: [] };
  const { state } = passTime(account, now);
  if (!isUsable(state, now)) {
    const required = Math.max(feeDue({ ...account, state }), row.cost_per_unit);
    throw await failInsufficient(db, world, { ...realMoney(organization), required });
  }
}

/** Units are deleted when their answer can no longer be recorded again. The charges stay in the ledger. */
export const deleteOldUnitsJob = defineRetentionJob({
  name: "addon.forget",
  schedule: "41 * * * *",
  rules: [{ table: "chatbot_units", column: "counted_at", days: 30 }],
});

/** Returns false for an answer that was counted before, or within a session that was counted. */
async function insertUnit(tx: Transaction, row: AddonRow, answer: Answer): Promise<boolean> {
  const { organization: organization_id, answer_id, conversation_id, now } = answer;
  if (row.billing_unit === "per_session" && (await hasSession(tx, row, answer))) {
    return false;
  }
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("chatbot_units")
    .values({ organization_id, answer_id, addon_id: row.id, conversation_id, counted_at: now.toISOString() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

async function hasSession(tx: Transaction, { id }: AddonRow, answer: Answer): Promise<boolean> {
  const since = new Date(answer.now.getTime() - sessionMs);
  const session = await ofOrganization(tx, answer.organization)
    .selectFrom("chatbot_units")
    .select("answer_id")
    .where("addon_id", "=", id)
    .where("conversation_id", "=", answer.conversation_id)
    .where("counted_at", ">", since.toISOString())
    .limit(1)
    .executeTakeFirst();
  return session !== undefined;
}
