/** Saves a new cohort; the contacts of a file are added by a job. */

import { fail, failField } from "../../../../tools/errors.ts";
import { newJob } from "../../../jobs/job.ts";
import { requireBelowQuota } from "../../account/organization/index.ts";
import { toLaterBudgets } from "../../account/rules/index.ts";
import { getAccessibleUpload, getAccessibleUploadAt, removeSignature } from "../../content/uploads/index.ts";
import { freshId, type WriteContext } from "../../foundation/kernel/index.ts";
import { buildCohortJob } from "./build.ts";
import { countCohortJob } from "./count.ts";
import { parseCohortQuery, serializeCohort } from "./members.ts";

interface NewCohort {
  readonly name: string;
  readonly description?: string | undefined;
  readonly type: "query" | "csv";
  readonly query: Record<string, unknown>;
  readonly csv_url?: string | undefined;
  readonly upload_id?: string | undefined;
}

/** `count` is the number of contacts that the query selects now; undefined: a job counts them. */
export async function createCohort(input: NewCohort, count: number | undefined, context: WriteContext) {
  const { tx, organization, now } = context;
  const { name, description = null, type, query, csv_url } = input;
  await requireBelowQuota(context, "cohorts", tx.selectFrom("cohorts"));
  const upload = await requireSource(input, context);
  if (type === "query") {
    parseCohortQuery(query);
  }
  const cohort = await tx
    .insertInto("cohorts")
    .values({
      organization_id: organization,
      id: freshId({ now }, "coh"),
      name,
      description,
      type,
      csv_url: csv_url === undefined ? null : upload ? removeSignature(csv_url) : csv_url,
      upload_id: upload?.id ?? null,
      query: JSON.stringify(query),
      status: type === "csv" ? "building" : "ready",
      ...(count === undefined ? {} : { contact_count: count }),
      errors: "[]",
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  if (type === "csv") {
    await enqueueBuild(cohort, context);
  } else if (count === undefined) {
    const { organization_id, id: cohort_id } = cohort;
    await tx.enqueue([newJob(countCohortJob, { organization_id, cohort_id })]);
  }
  return { data: serializeCohort(cohort) };
}

/**
 * The upload with the contacts; undefined if the file is at another address, and without a file.
 * @throws Failure `url_not_allowed`, `upload_not_found`, `insufficient_scope`, `not_a_csv_file`.
 */
async function requireSource({ csv_url, upload_id }: NewCohort, { tx, world, caller }: WriteContext) {
  const upload =
    upload_id === undefined
      ? await getAccessibleUploadAt(tx, caller, csv_url, "csv_url")
      : await getAccessibleUpload(tx, caller, upload_id, "upload_id");
  const forbidden = upload || csv_url === undefined ? undefined : world.web.check(csv_url);
  if (forbidden) {
    throw failField("csv_url", "url_not_allowed", { reason: forbidden.detail });
  }
  if (upload && upload.content_type !== "text/csv") {
    const param = csv_url === undefined ? "upload_id" : "csv_url";
    throw fail("not_a_csv_file", { value: upload.content_type, param });
  }
  return upload;
}

async function enqueueBuild(
  {
    organization_id,
    id,
    upload_id,
  }: { readonly organization_id: string; readonly id: string; readonly upload_id: string | null },
  { tx, caller, actor }: WriteContext,
): Promise<void> {
  await tx.enqueue([
    newJob(
      buildCohortJob,
      {
        organization_id,
        cohort_id: id,
        upload_id,
        credential_id: caller.credential.id,
        may_create: caller.scopes.has("contacts:write"),
        ...toLaterBudgets(actor),
      },
      { lane: `cohort:${organization_id}`, key: `cohort:${organization_id}` },
    ),
  ]);
}
