/** Adds, changes, refreshes and deletes documents; a job ingests them. */
import type { Selectable } from "kysely";
import { fail, failField } from "../../../../tools/errors.ts";
import type { ingestionFailures } from "../../../../tools/knowledge-base/index.ts";
import type { Queries } from "../../../database/database.ts";
import { containsText, ofOrganization, readPage } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { requireBelowQuota } from "../../account/organization/index.ts";
import { freshId, type ReadContext, type WriteContext } from "../../foundation/kernel/index.ts";
import {
  getAccessibleUpload,
  getAccessibleUploadAt,
  removeSignature,
  type UploadRow,
} from "../uploads/index.ts";
import { recordChange } from "./base.ts";
import { requestIngestion, type SourceType } from "./ingestion/index.ts";

interface Sources {
  readonly source_url?: string | undefined;
  readonly upload_id?: string | undefined;
  readonly content?: string | undefined;
}

interface NewDocument extends Sources {
  readonly name: string;
  readonly source_type: SourceType;
}

const shown = [
  "id",
  "name",
  "source_type",
  "source_url",
  "upload_id",
  "status",
  "failure_reason",
  "failure_detail",
  "progress",
  "pages",
  "chunk_count",
  "warnings",
  "ingested_at",
  "created_at",
  "updated_at",
] as const;

type DocumentRow = Pick<Selectable<Tables["knowledge_documents"]>, (typeof shown)[number]>;

export async function addDocument({ name, source_type, ...sources }: NewDocument, context: WriteContext) {
  const { tx, organization, now } = context;
  const source = await readSources(source_type, sources, context);
  await requireBelowQuota(context, "knowledge_documents", tx.selectFrom("knowledge_documents"));
  const row = await tx
    .insertInto("knowledge_documents")
    .values({
      organization_id: organization,
      id: freshId({ now }, "doc"),
      name,
      source_type,
      ...source,
      status: "processing",
      progress: 0,
      attempt: 0,
      warnings: "[]",
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .returning(shown)
    .executeTakeFirstOrThrow();
  await requestIngestion(context, row.id);
  return { data: serializeDocument(row) };
}

export async function listDocuments(
  {
    search,
    status,
    ...paging
  }: {
    readonly search?: string | undefined;
    readonly status?: DocumentRow["status"] | undefined;
    page: number;
    per_page: number;
  },
  { db, organization }: ReadContext,
) {
  const query = ofOrganization(db, organization)
    .selectFrom("knowledge_documents")
    .select(shown)
    .$if(search !== undefined, (rows) => rows.where(containsText(search ?? "", "name")))
    .$if(status !== undefined, (rows) => rows.where("status", "=", status ?? "ready"))
    .orderBy("id", "desc");
  const { rows, meta } = await readPage(query, paging);
  return { data: rows.map(serializeDocument), meta };
}

/** @throws Failure `document_not_found`. */
export async function getDocument(db: Queries, organization: string, id: string) {
  const row = await ofOrganization(db, organization)
    .selectFrom("knowledge_documents")
    .select(shown)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) {
    throw fail("document_not_found");
  }
  return serializeDocument(row);
}

/** Changes a document. A new source replaces the old source of any kind. */
export async function updateDocument(
  { id, name, ...sources }: Sources & { readonly id: string; readonly name?: string | undefined },
  context: WriteContext,
) {
  const { tx, organization, now } = context;
  const { source_type } = await getDocument(tx, organization, id);
  const source = await readSources(source_type, sources, context);
  const hasSource = countSources(sources) > 0;
  const row = await ofOrganization(tx, organization)
    .updateTable("knowledge_documents")
    .set((column) => ({
      name,
      updated_at: now.toISOString(),
      ...(hasSource ? { ...source, ...begun, attempt: column("attempt", "+", 1) } : {}),
    }))
    .where("id", "=", id)
    .returning(shown)
    .executeTakeFirst();
  if (!row) {
    throw fail("document_not_found");
  }
  if (hasSource) {
    await requestIngestion(context, id);
  }
  return { data: serializeDocument(row) };
}

export async function refreshDocument(id: string, context: WriteContext) {
  const { tx, organization, now } = context;
  const row = await ofOrganization(tx, organization)
    .updateTable("knowledge_documents")
    .set((column) => ({ ...begun, attempt: column("attempt", "+", 1), updated_at: now.toISOString() }))
    .where("id", "=", id)
    .returning([...shown, "content"])
    .executeTakeFirst();
  if (!row) {
    throw fail("document_not_found");
  }
  const { content, ...document } = row;
  if (content === null && row.source_url === null && row.upload_id === null) {
    throw fail("document_without_source");
  }
  await requestIngestion(context, id);
  return { data: serializeDocument(document) };
}

/** Deletes a document with its chunks. If it is being ingested, the job finds no document and stops. */
export async function deleteDocument(id: string, { tx, organization }: WriteContext) {
  const { numDeletedRows } = await ofOrganization(tx, organization)
    .deleteFrom("knowledge_documents")
    .where("id", "=", id)
    .executeTakeFirst();
  if (!numDeletedRows) {
    throw fail("document_not_found");
  }
  await recordChange(tx, organization, undefined);
  return { data: { deleted: true as const } };
}

/** The columns with which a new ingestion starts. Searches still find the present chunks. */
const begun = { status: "processing", failure_reason: null, failure_detail: null, progress: 0 } as const;

/**
 * The columns of the source. There is at most one source; its kind must fit the type, and the caller must
 * have access to it. The address of an upload stands for the upload.
 * @throws Failure
 */
async function readSources(type: SourceType, sources: Sources, { tx, world, caller }: WriteContext) {
  const { source_url, upload_id, content } = sources;
  const count = countSources(sources);
  if (count > 1) {
    throw fail("one_source_needed", { count, known: "source_url, upload_id and content" });
  }
  if (content !== undefined && type !== "markdown") {
    throw impossible(type, "content", "Send source_url, or use the type markdown.");
  }
  if (upload_id !== undefined && type === "url") {
    throw impossible(type, "upload_id", "Send source_url, or use the type pdf or markdown.");
  }
  if (upload_id !== undefined) {
    requireType(type, await getAccessibleUpload(tx, caller, upload_id, "upload_id"), "upload_id");
  }
  const upload = await getAccessibleUploadAt(tx, caller, source_url, "source_url");
  if (upload && source_url !== undefined) {
    requireType(type, upload, "source_url");
    return { source_url: removeSignature(source_url), upload_id: upload.id, content: null };
  }
  const forbidden = source_url === undefined ? undefined : world.web.check(source_url);
  if (forbidden) {
    throw failField("source_url", "url_not_allowed", { reason: forbidden.detail });
  }
  return { source_url: source_url ?? null, upload_id: upload_id ?? null, content: content ?? null };
}

const texts = ["text/markdown", "text/plain"] as const;

/** The types of upload that each type of document can be read from. */
const uploadTypes: Readonly<Record<SourceType, readonly string[]>> = {
  pdf: ["application/pdf"],
  markdown: texts,
  url: ["application/pdf", ...texts],
};

/** @throws Failure `document_source_not_possible`. */
function requireType(type: SourceType, { content_type }: UploadRow, param: string): void {
  const expected = uploadTypes[type];
  if (!expected.includes(content_type)) {
    const reason = `The upload is ${content_type}; use one that is ${expected.join(" or ")}.`;
    throw impossible(type, param, reason);
  }
}

function impossible(type: SourceType, param: string, reason: string) {
  return failField(param, "document_source_not_possible", { source_type: type, reason });
}

function countSources({ source_url, upload_id, content }: Sources): number {
  return [source_url, upload_id, content].filter((source) => source !== undefined).length;
}

function serializeDocument(row: DocumentRow) {
  return {
    ...row,
    // Only ingestions write this column.
    failure_reason: row.failure_reason as (typeof ingestionFailures)[number] | null,
    warnings: [...row.warnings],
  };
}
