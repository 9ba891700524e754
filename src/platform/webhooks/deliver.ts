/**
 * Makes one try of a delivery: reads it, sends it with no transaction open, and settles how it went.
 *
 * A process that dies in between leaves the turn as it was, so the same event is sent again under the same id:
 * at least once.
 */
import { sql } from "kysely";
import type { WebResponse } from "../../ports/web.ts";
import { coalesce, type ModuleJob, type World } from "../kernel/index.ts";
import { type AttemptResult, holdDelivery, saveAttemptResult } from "./attempt-results.ts";
import { type DeliveryPayload, deliveryJobName, deliveryKey } from "./job.ts";
import { nextTryAt } from "./schedule.ts";
import { signDelivery } from "./sign.ts";
import { type SealedSecrets, signingSecrets } from "./subscriptions.ts";

/** The specification's, for the whole exchange. */
const timeoutMs = 30_000;
/** Of the answer, what is kept to understand a failure by. */
const keptBytes = 4_096;

/** What is to be sent, and where. */
export interface PendingDelivery extends DeliveryPayload, SealedSecrets {
  readonly url: string;
  readonly is_active: boolean;
  readonly failing_since: string | null;
  readonly body: string;
  readonly step: number;
}

export const deliverWebhookJob: ModuleJob<DeliveryPayload> = {
  name: deliveryJobName,

  async run(due, world, { signal, backOff }) {
    const pending = await readPending(world, due);
    if (!pending) {
      return undefined;
    }
    if (!pending.is_active) {
      await holdDelivery(world, due);
      return undefined;
    }
    const begun = world.now();
    const answer = await postEvent(world, pending, { signal });
    if (answer.outcome === "failed" && answer.reason === "aborted") {
      throw new Error("The house is stopping: the delivery is tried again by the next.");
    }
    const outcome = classifyResponse(answer);
    if (outcome !== "delivered") {
      backOff();
    }
    world.metrics.webhook({ outcome, seconds: "ms" in answer ? answer.ms / 1_000 : 0 });
    await saveAttemptResult(world, toAttemptResult(pending, answer, { begun, now: world.now() }));
    return undefined;
  },

  /** Its process died in each of its tries: one failure more. */
  async exhausted(due, world) {
    const pending = await readPending(world, due);
    if (pending) {
      const now = world.now();
      const answer = { outcome: "failed", reason: "other", detail: "The try was cut short.", ms: 0 } as const;
      await saveAttemptResult(world, toAttemptResult(pending, answer, { begun: now, now }));
    }
  },
};

/** Posts a body with its signatures; a redirect is an answer like any other, and none that is meant. */
export function postEvent(
  world: World,
  told: SealedSecrets & { readonly url: string; readonly event_id: string; readonly body: string },
  options: { signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<WebResponse> {
  const { url, event_id: id, body } = told;
  const now = world.now();
  return world.web.send({
    method: "POST",
    url,
    body,
    headers: signDelivery({ id, body, now, secrets: signingSecrets(world, told) }),
    timeoutMs,
    maxBytes: keptBytes,
    tooLarge: "cut",
    ...options,
  });
}

/** What a try's answer makes of its delivery. */
function toAttemptResult(
  pending: PendingDelivery,
  answer: WebResponse,
  { begun, now }: { begun: Date; now: Date },
): AttemptResult {
  const isDelivered = classifyResponse(answer) === "delivered";
  const isGone = answer.outcome === "answered" && answer.status === 410;
  const step = pending.step + (isDelivered ? 0 : 1);
  const next = isDelivered || isGone ? undefined : nextTryAt({ step, answer, now });
  const failed = next ? "pending" : "failed";
  const next_try_at = next?.toISOString() ?? null;
  return {
    ...pending,
    // The event of a webhook that is gone is kept for the day when it is switched on again.
    status: isDelivered ? "delivered" : isGone ? "held" : failed,
    step,
    next_try_at,
    isDelivered,
    isGone,
    attempt: {
      number: pending.turn,
      attempted_at: begun.toISOString(),
      ...describeResponse(answer),
      next_try_at,
    },
  };
}

/** Whatever is not a 2xx is a failure. */
export function classifyResponse(answer: WebResponse) {
  if (answer.outcome !== "answered") {
    return "unreachable";
  }
  return answer.status >= 200 && answer.status <= 299 ? "delivered" : "refused";
}

function describeResponse(answer: WebResponse) {
  if (answer.outcome !== "answered") {
    const ms = answer.outcome === "failed" ? answer.ms : 0;
    return { status_code: null, ms, error: answer.detail, answer: null };
  }
  // A zero byte has no place in PostgreSQL.
  const text = Buffer.from(answer.body).toString("utf8").replaceAll("\0", "");
  return { status_code: answer.status, ms: Math.round(answer.ms), error: null, answer: text };
}

/** What waits for this very try, with its webhook; undefined when there is nothing to do any more. */
const readPending = coalesce(
  async (world, dues: readonly DeliveryPayload[]): Promise<(PendingDelivery | undefined)[]> => {
    // Each row is looked up by its whole key: a join may be planned to begin with all that the organization has.
    const { rows } = await sql<PendingDelivery>`
    select due.*, delivery.step, event.body, webhook.*
    from jsonb_to_recordset(${JSON.stringify(dues)}::jsonb)
      as due (organization_id text, webhook_id text, event_id text, turn integer)
    cross join lateral (
      select step from webhook_deliveries
      where organization_id = due.organization_id and webhook_id = due.webhook_id and event_id = due.event_id
        and turn = due.turn and status = 'pending'
      limit 1
    ) as delivery
    cross join lateral (
      select body from events where organization_id = due.organization_id and id = due.event_id limit 1
    ) as event
    cross join lateral (
      select url, is_active, failing_since, secret, previous_secret, previous_secret_until from webhooks
      where organization_id = due.organization_id and id = due.webhook_id
      limit 1
    ) as webhook
  `.execute(world.database.queries);
    const found = new Map(rows.map((row) => [deliveryKey(row), row]));
    return dues.map((due) => found.get(deliveryKey(due)));
  },
);
