/** What a channel sent instead of a type of this service, in its own form, kept for a week. */
import type { Queries } from "../../../database/database.ts";
import { defineRetentionJob } from "../../kernel/index.ts";

/** Null if it is not kept any more. */
export async function findOriginal(
  db: Queries,
  { organization_id, id }: { readonly organization_id: string; readonly id: string },
) {
  const row = await db
    .selectFrom("message_originals")
    .select("original")
    .where("organization_id", "=", organization_id)
    .where("message_id", "=", id)
    .executeTakeFirst();
  return row?.original ?? null;
}

export const deleteOriginalsJob = defineRetentionJob({
  name: "message-original.forget",
  schedule: "27 * * * *",
  rules: [{ table: "message_originals", column: "received_at", days: 7 }],
});
