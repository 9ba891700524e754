/**
 * Limits the time for which an organization's documents are read per hour. An hour begins with the first
 * document that is read after the last hour has ended. Only a hostile document, or very many documents, take
 * long.
 */
import { sql } from "kysely";
import { columnsOf, rowsOf } from "../../../../database/query/index.ts";
import { limitOf } from "../../../account/organization/index.ts";
import type { World } from "../../../foundation/kernel/index.ts";
import { IngestionError } from "./source.ts";

const hourMs = 3_600_000;

/** @throws IngestionError `quota_exceeded` */
export async function requireReadingTime(organization: string, world: World): Promise<void> {
  const { rows } = await rowsOf({
    since: "timestamptz",
    ms: "integer",
    ...columnsOf("organizations", "limits"),
  })`
    select reading_since as since, reading_ms as ms, limits from knowledge_bases
    join organizations on organizations.id = organization_id
    where organization_id = ${organization} and ${isCurrent(world)}
  `.execute(world.database.queries);
  const [used] = rows;
  const seconds = used && limitOf(world, used.limits, "knowledge_reading_seconds");
  if (used && seconds !== undefined && used.ms >= seconds * 1000) {
    const end = new Date(new Date(used.since).getTime() + hourMs).toISOString();
    const message = `The organization's documents may be read for ${seconds} seconds in an hour, and they were. Refresh the document after ${end}, or ask the operator for a higher limit (knowledge_reading_seconds).`;
    throw new IngestionError("quota_exceeded", message);
  }
}

export async function recordReadingTime(organization: string, world: World, tookMs: number): Promise<void> {
  const [ms, now] = [Math.ceil(tookMs), world.now().toISOString()];
  await sql`
    insert into knowledge_bases (organization_id, version, reading_since, reading_ms)
    values (${organization}, 0, ${now}, ${ms})
    on conflict (organization_id) do update set
      reading_ms = case when ${isCurrent(world)} then knowledge_bases.reading_ms + ${ms}::integer else ${ms}::integer end,
      reading_since = case when ${isCurrent(world)} then knowledge_bases.reading_since else ${now}::timestamptz end
  `.execute(world.database.queries);
}

/** Whether the hour of the row has not ended. */
function isCurrent({ now }: World) {
  const before = new Date(now().getTime() - hourMs).toISOString();
  return sql<boolean>`coalesce(knowledge_bases.reading_since > ${before}::timestamptz, false)`;
}
