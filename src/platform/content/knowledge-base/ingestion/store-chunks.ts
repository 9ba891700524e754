/** Stores the chunks of a run with their vectors, a batch in each transaction. */

import { insertAll, ofOrganization } from "../../../../database/query/index.ts";
import { countLocked } from "../../../account/organization/index.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import type { Chunk } from "../chunks/index.ts";
import { embedBatch, textToEmbed } from "../embed.ts";
import { encodeVector } from "../retrieval/index.ts";
import { IngestionError } from "./source.ts";
import { type IngestionRun, requireCurrent } from "./store.ts";

interface Progress {
  readonly chunks: readonly Chunk[];
  /** In percent, before the first chunk is stored. */
  readonly progress: number;
}

/** What separates the headings of a chunk. */
export const headingSeparator = " > ";

/** @throws IngestionError `quota_exceeded`, SupersededError. */
export async function storeChunks(
  run: IngestionRun,
  world: World,
  { chunks, progress }: Progress,
): Promise<void> {
  await requireSpace(run, world, chunks.length);
  const known = await readKnownVectors(run, world);
  for (let start = 0; start < chunks.length; start += embedBatch) {
    const batch = chunks.slice(start, start + embedBatch);
    const vectors = await embedBatchOf(batch, known, world);
    const rows = batch.map((chunk, index) =>
      toRow(run, world, { chunk, position: start + index + 1, vectors }),
    );
    await world.database.transaction(async (tx) => {
      await requireCurrent(tx, run);
      await insertAll(tx, "knowledge_chunks", rows);
      const done = (start + batch.length) / chunks.length;
      await setProgress(tx, run, Math.floor(progress + done * (99 - progress)));
    });
  }
}

/** The jobs of an organization run one at a time, so no other document takes the space meanwhile. */
async function requireSpace(run: IngestionRun, world: World, count: number): Promise<void> {
  const { organization_id: organization, id } = run;
  await world.database.transaction(async (tx) => {
    const others = tx.selectFrom("knowledge_chunks").where("document_id", "!=", id);
    const stored = await countLocked({ tx, world, organization }, "knowledge_chunks", others);
    await requireCurrent(tx, run);
    if (stored.count + count > stored.limit) {
      const message = `It has ${count} passages. The organization may have ${stored.limit}, and its other documents have ${stored.count}. Delete documents, or ask the operator for a higher limit (knowledge_chunks).`;
      throw new IngestionError("quota_exceeded", message);
    }
  });
}

/** The vectors of the document's texts, including texts of runs that did not end. */
async function readKnownVectors({ organization_id, id }: IngestionRun, { database, embedder }: World) {
  const rows = await ofOrganization(database.queries, organization_id)
    .selectFrom("knowledge_chunks")
    .select(["title", "content", "embedding"])
    .where("document_id", "=", id)
    .where("model", "=", embedder.model)
    .execute();
  return new Map(rows.map(({ title, content, embedding }) => [textToEmbed(title, content), embedding]));
}

type Vectors = ReadonlyMap<string, Uint8Array | null>;

/**
 * The vectors of a batch, keyed by text. If the model's service fails, the texts are stored without vectors:
 * their words are found, and a job computes the vectors later.
 */
async function embedBatchOf(batch: readonly Chunk[], known: Vectors, world: World): Promise<Vectors> {
  const texts = batch.map((chunk) => textToEmbed(titleOf(chunk), chunk.content));
  const missing = [...new Set(texts.filter((text) => !known.has(text)))];
  if (missing.length === 0) {
    return known;
  }
  const embedded = await world.embedder.embed(missing, { signal: world.stopping });
  if (embedded.outcome === "failed") {
    const { reason, detail } = embedded;
    world.log.warn({ reason, detail }, "The passages of a document could not be embedded.");
    return known;
  }
  const computed = missing.map((text, index) => {
    const vector = embedded.vectors[index];
    return [text, vector ? encodeVector(vector) : null] as const;
  });
  return new Map([...known, ...computed]);
}

function toRow(
  { organization_id, id, attempt }: IngestionRun,
  { embedder }: World,
  {
    chunk,
    position,
    vectors,
  }: { readonly chunk: Chunk; readonly position: number; readonly vectors: Vectors },
) {
  const { headings, page, last_page, content } = chunk;
  const title = titleOf(chunk);
  const vector = vectors.get(textToEmbed(title, content)) ?? null;
  return {
    organization_id,
    document_id: id,
    generation: attempt,
    position,
    headings,
    page,
    last_page,
    title,
    content,
    embedding: vector === null ? null : `\\x${Buffer.from(vector).toString("hex")}`,
    model: vector === null ? null : embedder.model,
  };
}

function titleOf({ headings }: Chunk): string {
  return headings.join(headingSeparator);
}

async function setProgress(
  tx: Transaction,
  { organization_id, id }: IngestionRun,
  progress: number,
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .updateTable("knowledge_documents")
    .set({ progress })
    .where("id", "=", id)
    .execute();
}
