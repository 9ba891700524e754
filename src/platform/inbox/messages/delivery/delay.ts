/** Records why a queued message has not been sent yet. */
import { sql } from "kysely";
import { columnsOf, matchesKey, recordset } from "../../../../database/query/index.ts";
import type { MessageDelay, ReportedFailure } from "../../../../database/schema/index.ts";
import { coalesce } from "../../../../database/sharing/index.ts";
import type { World } from "../../../foundation/kernel/index.ts";
import { toDeliveryError } from "../wording/index.ts";
import type { MessageName } from "./unsent.ts";

export interface NewDelay extends MessageName {
  readonly reason: NonNullable<MessageDelay["reason"]>;
  readonly since: string;
  /** Whether an attempt has failed; false: the message waits with others. */
  readonly isAttempt: boolean;
  /** Null: nothing has failed. */
  readonly failure: (ReportedFailure & { readonly code?: string }) | null;
  /** Null: it is not sent again, because the channel may have accepted it. */
  readonly nextAttemptAt: Date | null;
}

const delayColumns = {
  ...columnsOf("messages", "id"),
  reason: "text",
  since: "text",
  attempts: "integer",
  last_error: "jsonb",
  next_attempt_at: "text",
} as const;

/**
 * While the reason stays the same, `since` does too. Of an erased contact, the texts of the channel are not
 * kept.
 */
export const recordDelay = coalesce(
  async (world: World, delays: readonly NewDelay[]): Promise<readonly undefined[]> => {
    const rows = delays.map(({ message_id: id, reason, since, isAttempt, failure, nextAttemptAt }) => {
      return {
        id,
        reason,
        since,
        attempts: isAttempt ? 1 : 0,
        last_error: failure && toError(failure),
        next_attempt_at: nextAttemptAt?.toISOString() ?? null,
      };
    });
    const ids = delays.map(({ message_id }) => message_id);
    await sql`
      update messages set delay = jsonb_build_object(
        'reason', new.reason,
        'since', case when messages.delay ->> 'reason' = new.reason
          then messages.delay ->> 'since' else new.since end,
        'attempts', coalesce((messages.delay ->> 'attempts')::int, 0) + new.attempts,
        'last_error', new.last_error,
        'next_attempt_at', new.next_attempt_at
      )
      from ${recordset("new", delayColumns, rows)}
      where messages.organization_id = ${delays[0]?.organization_id}
        and ${matchesKey("messages.id", "new.id", ids)}
        and messages.status in ('queued', 'sending') and messages."to" is not null
    `.execute(world.database.queries);
    return delays.map(() => undefined);
  },
  ({ organization_id }) => organization_id,
);

function toError(failure: ReportedFailure & { readonly code?: string }) {
  const { code, channel_code, title, detail } = toDeliveryError(failure);
  return { code, channel_code, title, detail };
}
