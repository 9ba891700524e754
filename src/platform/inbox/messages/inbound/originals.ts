/** What a channel sent instead of a type of this service, in its own form, kept for a week. */
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { defineRetentionJob } from "../../../foundation/kernel/index.ts";

/** Null if it is not kept any more. */
export async function findOriginal(
  db: Queries,
  { organization_id, id }: { readonly organization_id: string; readonly id: string },
) {
  const row = await ofOrganization(db, organization_id)
    .selectFrom("message_originals")
    .select("original")
    .where("message_id", "=", id)
    .executeTakeFirst();
  return row?.original ?? null;
}

export const deleteOriginalsJob = defineRetentionJob({
  name: "message-original.forget",
  schedule: "27 * * * *",
  rules: [{ table: "message_originals", column: "received_at", days: 7 }],
});
