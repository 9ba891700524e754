/** The text of a message, whatever its type. */
import { sql } from "kysely";

/** Null for a message without a text. */
export const messageText = sql<
  string | null
>`coalesce(content #>> '{text,body}', content #>> '{media,caption}',
  content #>> '{reply,title}', content #>> '{interactive,body}', content #>> '{template,body}',
  content ->> 'summary')`;
