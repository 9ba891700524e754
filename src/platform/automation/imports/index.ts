/** Imports of contacts: queued by the call, and run in batches by a background job. */

import { fail, failField } from "../../../../tools/errors.ts";
import { imports as contract } from "../../../../tools/imports.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { newJob } from "../../../jobs/job.ts";
import { requireBelowQuota } from "../../account/organization/index.ts";
import { toLaterBudgets } from "../../account/rules/index.ts";
import { getAccessibleUpload, getAccessibleUploadAt } from "../../content/uploads/index.ts";
import {
  type Caller,
  defineRetentionJob,
  freshId,
  implement,
  type WriteContext,
} from "../../foundation/kernel/index.ts";
import { runImportJob } from "./run.ts";
import { maySetTags, requireTagScope } from "./tags.ts";

export type { Batch } from "./batch.ts";
export { type ImportColumns, RejectedRowError, readContact, readHeader } from "./row.ts";
export { commitRows, explainFileError, fetchCsv } from "./rows.ts";

/** An import that has not ended has no `finished_at`. */
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
        const upload =
          caller && !maySetTags(caller)
            ? await findUploaded(world.database.queries, caller, input)
            : undefined;
        if (upload) {
          await requireTagScope(world, upload);
        }
        return (context) => createImport(input, context);
      },
    },

    async get_import({ id }, { db, organization }) {
      const row = await ofOrganization(db, organization)
        .selectFrom("imports")
        .selectAll()
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
  readonly upload_id?: string | undefined;
  readonly url?: string | undefined;
}

async function createImport(source: Source, context: WriteContext) {
  const { tx, world, organization, caller, actor, now } = context;
  const upload = await requireSource(source, context);
  const unfinished = tx.selectFrom("imports").where("status", "in", ["queued", "running"]);
  await requireBelowQuota({ tx, world, organization }, "imports", unfinished);
  const row = await tx
    .insertInto("imports")
    .values({
      organization_id: organization,
      id: freshId({ now }, "imp"),
      status: "queued",
      upload_id: upload?.id ?? null,
      url: upload ? null : source.url,
      errors: "[]",
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await tx.enqueue([
    newJob(
      runImportJob,
      {
        organization_id: organization,
        import_id: row.id,
        credential_id: caller.credential.id,
        may_set_tags: maySetTags(caller),
        ...toLaterBudgets(actor),
      },
      { lane: `import:${organization}`, key: `import:${organization}` },
    ),
  ]);
  return { data: serializeImport(row) };
}

/**
 * The upload to import; undefined if the file is at another address.
 * @throws Failure `one_source_needed`, `url_not_allowed`, `not_a_csv_file`, and the errors of `findUploaded`.
 */
async function requireSource(source: Source, { tx, world, caller }: WriteContext) {
  const { upload_id, url } = source;
  const count = [upload_id, url].filter((one) => one !== undefined).length;
  if (count !== 1) {
    throw fail("one_source_needed", { count, known: "upload_id and url" });
  }
  const upload = await findUploaded(tx, caller, source);
  const forbidden = upload || url === undefined ? undefined : world.web.check(url);
  if (forbidden) {
    throw failField("url", "url_not_allowed", { reason: forbidden.detail });
  }
  if (upload && upload.content_type !== "text/csv") {
    const param = url === undefined ? "upload_id" : "url";
    throw fail("not_a_csv_file", { value: upload.content_type, param });
  }
  return upload;
}

/** The upload with this id or address. @throws Failure `upload_not_found`, `insufficient_scope`. */
async function findUploaded(db: Queries, caller: Caller, { upload_id, url }: Source) {
  return upload_id === undefined
    ? getAccessibleUploadAt(db, caller, url, "url")
    : getAccessibleUpload(db, caller, upload_id, "upload_id");
}

/** `position` is the number of rows read so far. */
function serializeImport<
  Row extends { position: number; errors: readonly { line: number; reason: string }[] },
>(row: Row) {
  return { ...row, total: row.position, errors: [...row.errors] };
}
