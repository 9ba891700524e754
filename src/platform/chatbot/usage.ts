/** The tokens of the language model that an organization's chatbot uses: recorded for each turn, limited for each month. */
import { sql } from "kysely";
import type { Queries, Transaction } from "../../database/database.ts";
import type { TokenUsage } from "../../ports/language-model.ts";
import type { World } from "../kernel/index.ts";

/** The input and output of this calendar month (UTC). */
export async function countTokens(db: Queries, organization: string, now: Date): Promise<number> {
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
  const { rows } = await sql<{ tokens: number }>`
    select coalesce(sum(input_tokens::bigint + coalesce(output_tokens, 0)), 0)::float8 as tokens from chatbot_turns
    where organization_id = ${organization} and created_at >= ${month.toISOString()}::timestamptz
      and input_tokens is not null
  `.execute(db);
  return rows[0]?.tokens ?? 0;
}

/** Whether the model may not be called again this month. Answers that are under way may exceed the limit. */
export async function isAtTokenLimit(
  { database, monthlyTokens, now }: World,
  organization: string,
): Promise<boolean> {
  return (
    monthlyTokens !== undefined && (await countTokens(database.queries, organization, now())) >= monthlyTokens
  );
}

/** Also for an answer that is not sent. */
export async function recordTokens(
  tx: Transaction,
  { organization_id, id }: { readonly organization_id: string; readonly id: string },
  { model, usage }: { readonly model: string | null; readonly usage: TokenUsage | null },
): Promise<void> {
  if (usage === null) {
    return;
  }
  await tx
    .updateTable("chatbot_turns")
    .set({ model, input_tokens: usage.input_tokens, output_tokens: usage.output_tokens })
    .where("organization_id", "=", organization_id)
    .where("id", "=", id)
    .execute();
}
