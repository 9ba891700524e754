/**
 * The job that ingests a document: source → text → chunks → vectors → a new generation of chunks, which
 * replaces the old generation in one transaction.
 *
 * A search finds only the chunks of the document's current generation, so it never sees half of a document,
 * and if a run fails, the previous chunks are still found. Each run has a number, its attempt, under which it
 * stores its chunks; a later run or a new source raises the number, and the earlier run stops. A run reuses
 * vectors that earlier runs stored for equal texts, so that a run after a crash, or of a source that has
 * hardly changed, computes few vectors.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { newJob, type Outcome } from "../../../../jobs/job.ts";
import { pause } from "../../../../time/pauses.ts";
import { defineJob, type World, type WriteContext } from "../../../foundation/kernel/index.ts";
import { type Chunk, cleanBlocks, divideBlocks, findDocumentWarnings, toChunks } from "../chunks/index.ts";
import { recordReadingTime, requireReadingTime } from "./reading-time.ts";
import { IngestionError, readSource } from "./source.ts";
import {
  beginIngestion,
  endFailed,
  endUnchanged,
  type IngestionRun,
  publish,
  SupersededError,
  type Text,
} from "./store.ts";
import { storeChunks } from "./store-chunks.ts";

const IngestJob = z.object({ organization_id: z.string(), document_id: z.string() });

/** The progress, in percent, at which the text of a document has been read. */
const readProgress = 20;

export type { SourceType } from "./source.ts";

export const ingestJob = defineJob({
  name: "knowledge.ingest",
  payload: IngestJob,
  // After a crash the ingestion is repeated when the lease ends.
  leaseMs: 30_000,

  async run(payload, world): Promise<Outcome> {
    const run = await beginIngestion(payload, world);
    return run && unlessSuperseded(() => runIngestion(run, world));
  },

  async exhausted(payload, world) {
    const run = await beginIngestion(payload, world);
    if (run) {
      const message = "An internal error occurred. Refresh the document to try again.";
      await unlessSuperseded(() => endFailed(run, world, new IngestionError("internal", message)));
    }
  },
});

/** A run ends without an error if its document was deleted or has a later run. */
async function unlessSuperseded<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SupersededError) {
      return undefined;
    }
    throw error;
  }
}

async function runIngestion(run: IngestionRun, world: World): Promise<Outcome> {
  try {
    await ingest(run, world);
  } catch (error) {
    if (world.stopping.aborted) {
      return { runAgainAt: world.now() };
    }
    if (!(error instanceof IngestionError)) {
      throw error;
    }
    await endFailed(run, world, error);
  }
  return undefined;
}

/**
 * Adds the job. The jobs of an organization run one at a time, so that the quota is compared with what is
 * stored.
 */
export async function requestIngestion(
  { tx, organization }: Pick<WriteContext, "tx" | "organization">,
  document_id: string,
): Promise<void> {
  const key = `knowledge:${organization}`;
  await tx.enqueue([
    newJob(
      ingestJob,
      { organization_id: organization, document_id },
      { lane: key, key, isDeduplicated: true },
    ),
  ]);
}

async function ingest(run: IngestionRun, world: World): Promise<void> {
  const text = await readText(run, world);
  if (run.generation !== null && run.content_hash === text.hash) {
    await endUnchanged(run, world);
    return;
  }
  await storeChunks(run, world, { ...text, progress: readProgress });
  await publish(run, world, text);
}

/** @throws IngestionError */
async function readText(run: IngestionRun, world: World): Promise<Text> {
  const { organization_id } = run;
  await requireReadingTime(organization_id, world);
  const file = await readSource(run, world);
  const document = await world.documents.read(file, { signal: world.stopping });
  await recordReadingTime(organization_id, world, document.tookMs);
  if (document.outcome === "unreadable") {
    throw new IngestionError(document.reason, document.detail);
  }
  const blocks = await divideBlocks(document.blocks);
  const chunks = await toChunks(await cleanBlocks(blocks));
  if (chunks.length === 0) {
    throw new IngestionError(
      "no_content",
      document.pages === null
        ? "It has no text."
        : "None of its pages has text, for example because they are scanned. Use a PDF with text.",
    );
  }
  return {
    chunks,
    pages: document.pages,
    warnings: await findDocumentWarnings(blocks, chunks, document.emptyPages),
    hash: await hashOf(chunks),
  };
}

/** Hashes the JSON of the chunks as one list, piece by piece. */
async function hashOf(chunks: readonly Chunk[]): Promise<string> {
  const hash = createHash("sha256");
  let separator = "[";
  for (const chunk of chunks) {
    await pause();
    hash.update(`${separator}${JSON.stringify(chunk)}`);
    separator = ",";
  }
  return hash.update("]").digest("hex");
}
