/** Finds the deliveries of a message's events to webhooks. */
import { sql } from "kysely";
import type { z } from "zod";
import type { webhooks as contract } from "../../../../tools/webhooks.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, refersTo } from "../../../database/query/index.ts";
import type { ExplainedMessage } from "./message.ts";

type Delivery = z.output<typeof contract.replay_webhook_delivery.output>["data"];

/** A message has few events, and an organization few webhooks. */
const maxRows = 200;

export async function findDeliveries(
  db: Queries,
  organization: string,
  { id, conversation_id }: Pick<ExplainedMessage, "id" | "conversation_id">,
) {
  const rows = await ofOrganization(db, organization)
    .selectFrom("webhook_deliveries")
    .innerJoin("events", (join) => join.on(refersTo("webhook_deliveries.event_id", "events")))
    .innerJoin("webhooks", (join) => join.on(refersTo("webhook_deliveries.webhook_id", "webhooks")))
    .select([
      "webhook_deliveries.event_id",
      "webhook_deliveries.webhook_id",
      "webhook_deliveries.status",
      "webhook_deliveries.attempts",
      "webhook_deliveries.next_try_at",
      "webhooks.url",
      "events.type",
    ])
    .where("events.conversation_id", "=", conversation_id)
    .where("events.type", "like", "message.%")
    // The body is JSON text, in which the id stands as a value.
    .where(sql<boolean>`position(${JSON.stringify(id)} in events.body) > 0`)
    .orderBy("webhook_deliveries.event_id")
    .limit(maxRows)
    .execute();
  return rows.map(({ event_id, type, attempts, ...row }) => {
    // `recordEvents` writes the type from an event, and `saveAttemptResult` the attempts.
    const checked = { type, attempts } as Pick<Delivery, "type" | "attempts">;
    return {
      ...row,
      id: event_id,
      type: checked.type,
      attempt_count: checked.attempts.at(-1)?.number ?? 0,
      last_status_code: checked.attempts.at(-1)?.status_code ?? null,
    };
  });
}
