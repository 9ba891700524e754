/**
 * The words of documents' names, which a search reads as headings, and the tokens that a chatbot has used in
 * a month.
 */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  // Without punctuation, so that the words of a file's name are separate words.
  const name = "translate(name, '._-/', '    ')";
  await sql
    .raw(
      `alter table knowledge_documents add column name_words tsvector not null
        generated always as (to_tsvector('english', ${name}) || to_tsvector('simple', ${name})) stored`,
    )
    .execute(database);
  await sql`
    create index chatbot_turns_tokens on chatbot_turns (organization_id, created_at)
    include (input_tokens, output_tokens) where input_tokens is not null
  `.execute(database);
}
