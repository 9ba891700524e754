/** Imports of contacts: queued by the call, and run in batches by a background job. */
import { fail, failField } from "../../../tools/errors.ts";
import { imports as contract } from "../../../tools/imports.ts";
import {
  defineRetentionJob,
  freshId,
  implement,
  requireBelowQuota,
  type WriteContext,
} from "../kernel/index.ts";
import { getAccessibleUpload } from "../uploads/index.ts";
import { runImportJob } from "./run.ts";
import { maySetTags, requireTagScope } from "./tags.ts";

export type { Batch } from "./batch.ts";
export { type Columns, RejectedRowError, readContact, readHeader } from "./row.ts";
export { commitRows, explainFileError, fetchCsv } from "./rows.ts";

/** An import that has not ended has no such time. */
const deleteOldImportsJob = defineRetentionJob({
  name: "import.forget",
  schedule: "27 * * * *",
  rules: [{ table: "imports", column: "finished_at", days: "imports" }],
});

export const imports = implement(contract, {
  tables: ["imports"],
  operations: {
    import_contacts: {
      async prepare(input, { world, caller }) {
        if (input.upload_id !== undefined && caller && !maySetTags(caller)) {
          await requireTagScope(world, caller, input.upload_id);
        }
        return (context) => createImport(input, context);
      },
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

interface Source {
  readonly upload_id?: string | null | undefined;
  readonly url?: string | null | undefined;
}

async function createImport({ upload_id = null, url = null }: Source, context: WriteContext) {
  const { tx, world, organization, caller, now } = context;
  const count = [upload_id, url].filter((source) => source !== null).length;
  if (count !== 1) {
    throw fail("one_source_needed", { count, known: "upload_id and url" });
  }
  const forbidden = url === null ? undefined : world.web.check(url);
  if (forbidden) {
    throw failField("url", "url_not_allowed", { reason: forbidden.detail });
  }
  const upload =
    upload_id === null ? undefined : await getAccessibleUpload(tx, caller, upload_id, "upload_id");
  if (upload && upload.content_type !== "text/csv") {
    throw fail("not_a_csv_file", { value: upload.content_type, param: "upload_id" });
  }
  const unfinished = tx.selectFrom("imports").where("status", "in", ["queued", "running"]);
  await requireBelowQuota({ tx, world, organization }, "imports", unfinished);
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
    {
      organization_id: organization,
      import_id: row.id,
      credential_id: caller.credential.id,
      may_set_tags: maySetTags(caller),
    },
    // One at a time: concurrent imports take as long in total, and all connections of the pool.
    { lane: `import:${organization}`, key: `import:${organization}` },
  );
  return { data: serializeImport(row) };
}

/** `position` is the number of rows read so far. */
function serializeImport<
  Row extends { position: number; errors: readonly { line: number; reason: string }[] },
>(row: Row) {
  return { ...row, total: row.position, errors: [...row.errors] };
}
