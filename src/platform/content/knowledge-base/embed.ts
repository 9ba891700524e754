/**
 * The jobs that compute missing vectors: of new QA pairs, of texts that could not be embedded when they were
 * stored, and of all texts after the model has changed.
 *
 * Vectors of different models are never compared. Until a text has a vector of the model in use, only its
 * words are found.
 */
import { sql } from "kysely";
import { z } from "zod";
import { columnOf, columnsOf, ofOrganization, recordset } from "../../../database/query/index.ts";
import { newJob, type Outcome } from "../../../jobs/job.ts";
import {
  defineJob,
  defineScheduledJob,
  type World,
  type WriteContext,
} from "../../foundation/kernel/index.ts";
import { recordChange, sortWords } from "./base.ts";
import { encodeVector } from "./retrieval/index.ts";

/** Texts per call of the model and per transaction. */
export const embedBatch = 64;

/** Time until the next try if the model's service does not set it. */
const retryMs = 60_000;

const EmbedJob = z.object({ organization_id: z.string() });

export const embedJob = defineJob({
  name: "knowledge.embed",
  payload: EmbedJob,
  leaseMs: 30_000,

  async run({ organization_id }, world): Promise<Outcome> {
    try {
      return await embedAll(organization_id, world);
    } catch (error) {
      if (world.stopping.aborted) {
        return { runAgainAt: world.now() };
      }
      throw error;
    }
  },
});

/**
 * Finds texts without a vector of the model in use, after a change of the model or a failure of its service.
 */
export const embedMissingJob = defineScheduledJob({
  name: "knowledge.embed_missing",
  schedule: "*/10 * * * *",

  async run(world) {
    const found = await world.database.queries
      .selectFrom("knowledge_bases")
      .select("organization_id")
      .where(sql<boolean>`model is distinct from ${world.embedder.model}`)
      .execute();
    for (const { organization_id } of found) {
      await world.database.transaction((tx) => requestEmbeddings({ tx, organization: organization_id }));
    }
  },
});

export async function requestEmbeddings({
  tx,
  organization,
}: Pick<WriteContext, "tx" | "organization">): Promise<void> {
  const key = `knowledge-embed:${organization}`;
  await tx.enqueue([newJob(embedJob, { organization_id: organization }, { key, isDeduplicated: true })]);
}

/** The text from which a chunk's vector is computed. */
export function textToEmbed(title: string, content: string): string {
  return title === "" ? content : `${title}\n${content}`;
}

async function embedAll(organization: string, world: World): Promise<Outcome> {
  for (const source of [pairs, chunks]) {
    for (;;) {
      const texts = await source.missing(world, organization);
      if (texts.length === 0) {
        break;
      }
      const inputs = texts.map(({ text }) => text);
      const embedded = await world.embedder.embed(inputs, { signal: world.stopping });
      if (embedded.outcome === "failed") {
        const { reason, detail, isRetryable, retryAfterMs = retryMs } = embedded;
        world.log.warn(
          { organization, reason, detail },
          "The texts of a knowledge base could not be embedded.",
        );
        // Failures that are not retryable are tried again by the scheduled job, because the settings may have
        // changed.
        return isRetryable ? { runAgainAt: new Date(world.now().getTime() + retryAfterMs) } : undefined;
      }
      const rows = texts.map(({ id, text }, index) => ({
        id,
        text,
        vector: Buffer.from(encodeVector(embedded.vectors[index] ?? new Float32Array())).toString("hex"),
      }));
      await world.database.transaction(async (tx) => {
        await source.store(organization, world.embedder.model, rows).execute(tx);
        await recordChange(tx, organization, world.embedder.model);
      });
    }
  }
  await recordComplete(organization, world);
  // Each new pair requests this job, so it also sorts the words of pairs.
  await sortWords(world.database.queries, "knowledge_qa_pairs");
  return undefined;
}

interface MissingText {
  readonly id: string;
  readonly text: string;
}

interface EmbeddedText extends MissingText {
  /** In hexadecimal digits. */
  readonly vector: string;
}

const pairColumns = {
  ...columnsOf("knowledge_qa_pairs", "id"),
  text: columnOf("knowledge_qa_pairs", "question"),
  vector: "text",
} as const;

const pairs = {
  async missing({ database, embedder }: World, organization: string): Promise<readonly MissingText[]> {
    return ofOrganization(database.queries, organization)
      .selectFrom("knowledge_qa_pairs")
      .select(["id", "question as text"])
      .where(sql<boolean>`model is distinct from ${embedder.model}`)
      .limit(embedBatch)
      .execute();
  },
  /** Stores a vector only if the text has not changed since. */
  store: (organization: string, model: string, rows: readonly EmbeddedText[]) => sql`
    update knowledge_qa_pairs as pair set embedding = decode(row.vector, 'hex'), model = ${model}
    from ${recordset("row", pairColumns, rows)}
    where pair.organization_id = ${organization} and pair.id = row.id and pair.question = row.text`,
};

const chunks = {
  async missing({ database, embedder }: World, organization: string): Promise<readonly MissingText[]> {
    const rows = await database.queries
      .selectFrom("knowledge_chunks as chunk")
      .innerJoin("knowledge_documents as document", (join) =>
        join
          .onRef("document.organization_id", "=", "chunk.organization_id")
          .onRef("document.id", "=", "chunk.document_id")
          .onRef("document.generation", "=", "chunk.generation"),
      )
      .select(["chunk.document_id", "chunk.generation", "chunk.position", "chunk.title", "chunk.content"])
      .where("chunk.organization_id", "=", organization)
      .where(sql<boolean>`chunk.model is distinct from ${embedder.model}`)
      .limit(embedBatch)
      .execute();
    return rows.map(({ document_id, generation, position, title, content }) => ({
      id: `${document_id} ${generation} ${position}`,
      text: textToEmbed(title, content),
    }));
  },
  store: (organization: string, model: string, rows: readonly EmbeddedText[]) => sql`
    update knowledge_chunks as chunk set embedding = decode(row.vector, 'hex'), model = ${model}
    from ${recordset("row", { id: "text", vector: "text" }, rows)}
    where chunk.organization_id = ${organization} and chunk.document_id = split_part(row.id, ' ', 1)
      and chunk.generation = split_part(row.id, ' ', 2)::integer
      and chunk.position = split_part(row.id, ' ', 3)::integer`,
};

/** Records that every vector is of the model in use, unless a text without a vector has been stored since. */
async function recordComplete(organization: string, { database, embedder: { model } }: World): Promise<void> {
  await database.transaction(async (tx) => {
    await ofOrganization(tx, organization)
      .selectFrom("knowledge_bases")
      .select("version")
      .forUpdate()
      .execute();
    await sql`
      update knowledge_bases set model = ${model} where organization_id = ${organization}
        and not exists (
          select from knowledge_qa_pairs where organization_id = ${organization} and model is distinct from ${model}
        )
        and not exists (
          select from knowledge_chunks as chunk
          join knowledge_documents as document on document.organization_id = chunk.organization_id
            and document.id = chunk.document_id and document.generation = chunk.generation
          where chunk.organization_id = ${organization} and chunk.model is distinct from ${model}
        )
    `.execute(tx);
  });
}
