/** The knowledge base: documents, their chunks, and QA pairs, with the columns for full text and vectors. */
import { type Kysely, sql } from "kysely";

/**
 * Words in two forms: `english` has their stems; `simple` has them unchanged, for names and for other
 * languages. The id of the organization is one more word, so that one index finds only rows of one
 * organization.
 */
const words = (...parts: readonly string[]) =>
  ["array_to_tsvector(array[organization_id])", ...parts].join(" || ");
const text = (column: string, weight: string) =>
  `setweight(to_tsvector('english', ${column}) || to_tsvector('simple', ${column}), '${weight}')`;

const statements = [
  `create table knowledge_bases (
    organization_id text collate "C" primary key references organizations (id),
    -- Rises with each change of what a search finds.
    version bigint not null,
    -- The model that every vector is of; null until that is known.
    model text
  )`,
  // Finds knowledge bases whose vectors are of another model.
  "create index knowledge_bases_model on knowledge_bases (model)",

  `create table knowledge_documents (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    name text not null,
    source_type text not null check (source_type in ('pdf', 'markdown', 'url')),
    -- At most one of the three.
    source_url text,
    upload_id text collate "C",
    content text,
    status text not null check (status in ('processing', 'ready', 'failed')),
    failure_reason text,
    failure_detail text,
    progress smallint not null,
    -- Rises with each run of the ingestion and each change of the source: a run that has another number stops.
    attempt integer not null,
    -- The attempt whose chunks are found; null: none yet.
    generation integer,
    pages integer,
    chunk_count integer not null default 0,
    warnings jsonb not null default '[]',
    content_hash text,
    ingested_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id)
  )`,

  `create table knowledge_chunks (
    organization_id text collate "C" not null,
    document_id text collate "C" not null,
    generation integer not null,
    -- In the document, from 1.
    position integer not null,
    headings jsonb not null,
    page integer,
    last_page integer,
    -- The headings as one text.
    title text not null,
    content text not null,
    words tsvector not null generated always as (${words(text("title", "B"), text("content", "D"))}) stored,
    -- Numbers of 4 bytes, little-endian.
    embedding bytea,
    model text,
    primary key (organization_id, document_id, generation, position),
    foreign key (organization_id, document_id) references knowledge_documents (organization_id, id) on delete cascade
  )`,
  "create index knowledge_chunks_words on knowledge_chunks using gin (words)",

  `create table knowledge_qa_pairs (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    question text not null,
    answer text not null,
    tags jsonb not null,
    words tsvector not null generated always as (${words(text("question", "A"), text("answer", "D"))}) stored,
    -- Of the question.
    embedding bytea,
    model text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id)
  )`,
  "create index knowledge_qa_pairs_words on knowledge_qa_pairs using gin (words)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
