/** Finds the tokens that an organization's chatbot has used in a month. */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`
    create index chatbot_turns_tokens on chatbot_turns (organization_id, created_at)
    include (input_tokens, output_tokens) where input_tokens is not null
  `.execute(database);
}
