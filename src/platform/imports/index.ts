/** Imports of contacts: queued by the call, and run in batches by a background job. */
import { fail, failField } from "../../../tools/errors.ts";
import { imports as contract } from "../../../tools/imports.ts";
import type { Transaction } from "../../database/database.ts";
import { countLocked, defineRetentionJob, freshId, implement, requireBelowQuota } from "../kernel/index.ts";
import { getUpload } from "../uploads/index.ts";
import { runImportJob } from "./run.ts";

/** An import that has not ended has no such time. */
const deleteOldImportsJob = defineRetentionJob({
  name: "import.forget",
  schedule: "27 * * * *",
  rules: [{ table: "imports", column: "finished_at", days: 30 }],
});

export const imports = implement(contract, {
  tables: ["imports"],
  operations: {
    async import_contacts({ upload_id = null, url = null }, { tx, world, organization, now }) {
      const count = [upload_id, url].filter((source) => source !== null).length;
      if (count !== 1) {
        throw fail("one_source_needed", { count, known: "upload_id and url" });
      }
      const forbidden = url === null ? undefined : world.web.check(url);
      if (forbidden) {
        throw failField("url", "url_not_allowed", { reason: forbidden.detail });
      }
      const upload = upload_id === null ? undefined : await getUpload(tx, organization, upload_id);
      if (upload && upload.content_type !== "text/csv") {
        throw fail("not_a_csv_file", { value: upload.content_type, param: "upload_id" });
      }
      await requireCapacity(tx, organization, world.quotas.imports);
      const row = await tx
        .insertInto("imports")
        .values({
          organization_id: organization,
          id: freshId({ now }, "imp"),
          status: "queued",
          upload_id,
          url,
          errors: "[]",
          created_at: now.toISOString(),
          updated_at: now.toISOString(),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await world.jobs.enqueue(
        tx,
        runImportJob,
        { organization_id: organization, import_id: row.id },
        // One at a time: concurrent imports take as long in total, and all connections of the pool.
        { lane: `import:${organization}`, key: `import:${organization}` },
      );
      return { data: serializeImport(row) };
    },

    async get_import({ id }, { db, organization }) {
      const row = await db
        .selectFrom("imports")
        .selectAll()
        .where("organization_id", "=", organization)
        .where("id", "=", id)
        .executeTakeFirst();
      if (!row) {
        throw fail("import_not_found");
      }
      return { data: serializeImport(row) };
    },
  },
  jobs: [runImportJob, deleteOldImportsJob],
});

/** @throws Failure `quota_exceeded`. */
async function requireCapacity(tx: Transaction, organization: string, limit: number): Promise<void> {
  const unfinished = tx.selectFrom("imports").where("status", "in", ["queued", "running"]);
  const count = await countLocked(tx, organization, unfinished);
  requireBelowQuota(count, { thing: "imports at once", setting: "TIDINGS_QUOTA_IMPORTS", limit });
}

/** `position` is the number of rows read so far. */
function serializeImport<
  Row extends { position: number; errors: readonly { line: number; reason: string }[] },
>(row: Row) {
  return { ...row, total: row.position, errors: [...row.errors] };
}
