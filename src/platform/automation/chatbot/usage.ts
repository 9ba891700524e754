/**
 * Counts the tokens of the language model that an organization's chatbot uses: recorded for each turn,
 * limited per month.
 */
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, onlyRow, rowsOf } from "../../../database/query/index.ts";
import type { TokenUsage } from "../../../ports/models/language-model.ts";
import { lockOrganization } from "../../account/organization/index.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";

/** The input and output tokens of this calendar month (UTC). */
export async function countTokens(db: Queries, organization: string, now: Date): Promise<number> {
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
  const { rows } = await rowsOf({ tokens: "double precision" })`
    select coalesce(sum(input_tokens::bigint + coalesce(output_tokens, 0)), 0)::float8 as tokens from chatbot_turns
    where organization_id = ${organization} and created_at >= ${month.toISOString()}::timestamptz
      and input_tokens is not null
  `.execute(db);
  return rows[0]?.tokens ?? 0;
}

/** The tokens of all calls of a model for a turn; null without any. */
export function sumUsages(usages: readonly TokenUsage[]): TokenUsage | null {
  if (usages.length === 0) {
    return null;
  }
  return {
    input_tokens: usages.reduce((sum, { input_tokens }) => sum + input_tokens, 0),
    output_tokens: usages.reduce((sum, { output_tokens }) => sum + output_tokens, 0),
  };
}

export function countUsed(usages: readonly TokenUsage[]): number {
  return usages.reduce((sum, { input_tokens, output_tokens }) => sum + input_tokens + output_tokens, 0);
}

/**
 * Longer than any call of a model may take. After this time a reservation of a crashed process no longer
 * counts.
 */
const reservedMs = 10 * 60_000;

/**
 * Reserves the most tokens that a turn's answer may use, until the real use is recorded. Returns false if the
 * month's limit would be exceeded, including recorded tokens and reservations of other answers.
 */
export async function reserveTokens(
  world: World,
  turn: { readonly organization_id: string; readonly id: string },
  tokens: number,
): Promise<boolean> {
  const { monthlyTokens } = world;
  if (monthlyTokens === undefined) {
    return true;
  }
  const { organization_id, id } = turn;
  return world.database.transaction(async (tx) => {
    // With the lock, the second of two concurrent reservations sees the first.
    await lockOrganization(tx, organization_id);
    const now = world.now();
    const used = await countTokens(tx, organization_id, now);
    if (used + (await countReserved(tx, turn, now)) + tokens > monthlyTokens) {
      return false;
    }
    const reserved_until = new Date(now.getTime() + reservedMs).toISOString();
    await ofOrganization(tx, organization_id)
      .updateTable("chatbot_turns")
      .set({ reserved_tokens: tokens, reserved_until })
      .where("id", "=", id)
      .execute();
    return true;
  });
}

/** The tokens that other turns have reserved. */
async function countReserved(
  tx: Transaction,
  { organization_id, id }: { readonly organization_id: string; readonly id: string },
  now: Date,
): Promise<number> {
  const { rows } = await rowsOf({ tokens: "double precision" })`
    select coalesce(sum(reserved_tokens), 0)::float8 as tokens from chatbot_turns
    where organization_id = ${organization_id} and id <> ${id} and reserved_until > ${now.toISOString()}::timestamptz
      and status = 'pending' and input_tokens is null and reserved_tokens is not null
  `.execute(tx);
  return onlyRow(rows).tokens;
}

/** Also called for an answer that is not sent. */
export async function recordTokens(
  tx: Transaction,
  { organization_id, id }: { readonly organization_id: string; readonly id: string },
  { model, usage }: { readonly model: string | null; readonly usage: TokenUsage | null },
): Promise<void> {
  if (usage === null) {
    return;
  }
  await ofOrganization(tx, organization_id)
    .updateTable("chatbot_turns")
    .set({ model, input_tokens: usage.input_tokens, output_tokens: usage.output_tokens })
    .where("id", "=", id)
    .execute();
}
