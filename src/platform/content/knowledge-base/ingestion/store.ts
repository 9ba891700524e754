/** The states of a document's ingestion: begun, failed, unchanged, or published. */
import { sql, type Updateable } from "kysely";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { DocumentWarning, Tables } from "../../../../database/schema/index.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import { recordChange, sortWords } from "../base.ts";
import type { Chunk } from "../chunks/index.ts";
import { requestEmbeddings } from "../embed.ts";
import type { DocumentSource, IngestionError } from "./source.ts";

/** A run of the ingestion of a document. */
export interface IngestionRun extends DocumentSource {
  readonly id: string;
  /** The generation of the chunks that this run stores. */
  readonly attempt: number;
  /** The generation that searches find now; null: none. */
  readonly generation: number | null;
  readonly content_hash: string | null;
}

export interface Text {
  readonly chunks: readonly Chunk[];
  readonly pages: number | null;
  readonly warnings: readonly DocumentWarning[];
  /** The hash of the chunks. */
  readonly hash: string;
}

/** A later run of the same document has begun, or the document was deleted or changed. */
export class SupersededError extends Error {
  override readonly name = "SupersededError";
}

/**
 * Returns undefined if there is nothing to ingest, because another run has done it or the document was
 * deleted.
 */
export async function beginIngestion(
  { organization_id, document_id }: { readonly organization_id: string; readonly document_id: string },
  { database, now }: World,
): Promise<IngestionRun | undefined> {
  return ofOrganization(database.queries, organization_id)
    .updateTable("knowledge_documents")
    .set((row) => ({ attempt: row("attempt", "+", 1), progress: 0, updated_at: now().toISOString() }))
    .where("id", "=", document_id)
    .where("status", "=", "processing")
    .returning([
      "organization_id",
      "id",
      "source_type",
      "source_url",
      "upload_id",
      "content",
      "attempt",
      "generation",
      "content_hash",
    ])
    .executeTakeFirst();
}

/** Locks the document until the commit. @throws SupersededError unless this is the document's latest run. */
export async function requireCurrent(
  tx: Transaction,
  { organization_id, id, attempt }: IngestionRun,
): Promise<void> {
  const current = await ofOrganization(tx, organization_id)
    .selectFrom("knowledge_documents")
    .select("attempt")
    .where("id", "=", id)
    .where("status", "=", "processing")
    .forUpdate()
    .executeTakeFirst();
  if (current?.attempt !== attempt) {
    throw new SupersededError();
  }
}

/**
 * Publishes the chunks of the run: searches find them after the commit. All other chunks of the document are
 * deleted.
 */
export async function publish(
  run: IngestionRun,
  world: World,
  { chunks, pages, warnings, hash }: Text,
): Promise<void> {
  const now = world.now().toISOString();
  await sortWords(world.database.queries, "knowledge_chunks");
  await world.database.transaction(async (tx) => {
    await requireCurrent(tx, run);
    await deleteOtherChunks(tx, run, run.attempt);
    await updateDocument(tx, run, {
      status: "ready",
      failure_reason: null,
      failure_detail: null,
      progress: 100,
      generation: run.attempt,
      pages,
      chunk_count: chunks.length,
      warnings: JSON.stringify(warnings),
      content_hash: hash,
      ingested_at: now,
      updated_at: now,
    });
    const isEmbedded = await hasAllVectors(tx, run, world.embedder.model);
    await recordChange(tx, run.organization_id, isEmbedded ? world.embedder.model : null);
    if (!isEmbedded) {
      await requestEmbeddings({ tx, organization: run.organization_id });
    }
  });
}

/** Ends a run whose source has the same text as before: nothing is stored again. */
export async function endUnchanged(run: IngestionRun, world: World): Promise<void> {
  const now = world.now().toISOString();
  await world.database.transaction(async (tx) => {
    await requireCurrent(tx, run);
    await deleteOtherChunks(tx, run, run.generation);
    await updateDocument(tx, run, {
      status: "ready",
      failure_reason: null,
      failure_detail: null,
      progress: 100,
      ingested_at: now,
      updated_at: now,
    });
  });
}

/** Ends a failed run. Searches still find the previous chunks. */
export async function endFailed(
  run: IngestionRun,
  world: World,
  { reason, message }: IngestionError,
): Promise<void> {
  await world.database.transaction(async (tx) => {
    await requireCurrent(tx, run);
    await deleteOtherChunks(tx, run, run.generation);
    await updateDocument(tx, run, {
      status: run.generation === null ? "failed" : "ready",
      failure_reason: reason,
      failure_detail: message,
      progress: run.generation === null ? 0 : 100,
      updated_at: world.now().toISOString(),
    });
  });
}

type Changes = Updateable<Tables["knowledge_documents"]>;

async function updateDocument(
  tx: Transaction,
  { organization_id, id }: IngestionRun,
  changes: Changes,
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .updateTable("knowledge_documents")
    .set(changes)
    .where("id", "=", id)
    .execute();
}

/** Deletes the chunks of all generations except one, including runs that did not end. */
async function deleteOtherChunks(
  tx: Transaction,
  { organization_id, id }: IngestionRun,
  generation: number | null,
) {
  await ofOrganization(tx, organization_id)
    .deleteFrom("knowledge_chunks")
    .where("document_id", "=", id)
    .where(sql<boolean>`generation is distinct from ${generation}::integer`)
    .execute();
}

async function hasAllVectors(tx: Transaction, { organization_id, id, attempt }: IngestionRun, model: string) {
  const missing = await ofOrganization(tx, organization_id)
    .selectFrom("knowledge_chunks")
    .select("position")
    .where("document_id", "=", id)
    .where("generation", "=", attempt)
    .where(sql<boolean>`model is distinct from ${model}`)
    .limit(1)
    .executeTakeFirst();
  return missing === undefined;
}
