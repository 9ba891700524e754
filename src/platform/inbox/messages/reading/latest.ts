/** Reads the latest message that the contact of each conversation wrote. */

import type { Queries } from "../../../../database/database.ts";
import { columnOf, nullable, rowsOf } from "../../../../database/query/index.ts";
import type { LatestMessage } from "../../routing/index.ts";

/**
 * Their texts are what a contact can write: a template or an interactive message is always outbound. Of a
 * conversation without an inbound message there is none.
 */
export async function readLatestMessages(
  db: Queries,
  {
    organization,
    conversation_ids,
  }: { readonly organization: string; readonly conversation_ids: readonly string[] },
): Promise<readonly LatestMessage[]> {
  const { rows } = await rowsOf({
    conversation_id: "text",
    type: columnOf("messages", "type"),
    text: nullable("text"),
  })`
    select wanted.conversation_id, latest.type, latest.text
    from unnest(${conversation_ids}::text[]) as wanted (conversation_id)
    cross join lateral (
      select type,
        coalesce(content #>> '{text,body}', content #>> '{media,caption}', content #>> '{reply,title}',
          content ->> 'summary') as text
      from messages
      where organization_id = ${organization} and conversation_id = wanted.conversation_id
        and direction = 'inbound'
      order by id desc limit 1
    ) as latest
  `.execute(db);
  return rows;
}
