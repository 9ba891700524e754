/**
 * Converts the tags of conversations to the form of contacts' tags: earlier versions stored them as they were
 * sent.
 */
import { type Kysely, sql } from "kysely";

const whitespace = " \t\n\r\f\v";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`
    update conversations
    set tags = array(
      select tag from (
        select lower(btrim(normalize(sent.tag), ${whitespace})) as tag, min(sent.place) as place
        from unnest(tags) with ordinality as sent (tag, place)
        group by 1
      ) as normalized
      where tag <> ''
      order by place
    )
    where tags <> '{}' and exists (
      select 1 from unnest(tags) as sent (tag) where tag <> lower(btrim(normalize(tag), ${whitespace}))
    )
  `.execute(database);
}
