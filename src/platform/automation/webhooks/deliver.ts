/**
 * Makes one attempt at a delivery: reads the delivery, sends it with no transaction open, and saves the
 * result.
 *
 * If the process dies in between, the delivery stays at its turn and the event is sent again with the same
 * id: at-least-once delivery.
 */
import { webhookTimeoutSeconds } from "../../../../tools/webhooks.ts";
import { byWholeKey, columnsOf, recordset, rowsOf } from "../../../database/query/index.ts";
import { coalesce } from "../../../database/sharing/index.ts";
import type { WebResponse } from "../../../ports/web.ts";
import { defineJob, type World } from "../../foundation/kernel/index.ts";
import { signDelivery } from "../../foundation/sealing/index.ts";
import { type AttemptResult, holdDelivery, saveAttemptResult } from "./attempt-results.ts";
import { type DeliveryPayload, deliveryJobType, deliveryKey } from "./job.ts";
import { nextTryAt } from "./schedule.ts";
import { type SealedSecrets, signingSecrets } from "./subscriptions.ts";

const timeoutMs = webhookTimeoutSeconds * 1_000;
/** How much of a response is stored, to explain a failure. */
const maxResponseBytes = 4_096;

/** A delivery with its event and webhook. */
export interface PendingDelivery extends DeliveryPayload, SealedSecrets {
  readonly url: string;
  readonly is_active: boolean;
  readonly failing_since: string | null;
  readonly body: string;
  readonly step: number;
}

const pendingColumns = {
  ...columnsOf("webhook_deliveries", "organization_id", "webhook_id", "event_id", "turn", "step"),
  ...columnsOf("events", "body"),
  ...columnsOf("webhooks", "url", "is_active", "failing_since"),
  ...columnsOf("webhooks", "secret", "previous_secret", "previous_secret_until"),
};

export const deliverWebhookJob = defineJob<DeliveryPayload>({
  ...deliveryJobType,

  async run(payload, world, { signal, backOff }) {
    const pending = await readPending(world, payload);
    if (!pending) {
      return undefined;
    }
    if (!pending.is_active) {
      await holdDelivery(world, payload);
      return undefined;
    }
    const startedAt = world.now();
    const answer = await postEvent(world, signEvent(world, pending), { signal });
    if (answer.outcome === "failed" && answer.reason === "aborted") {
      throw new Error("The app is stopping; the delivery is retried after a restart.");
    }
    const outcome = classifyResponse(answer);
    if (outcome !== "delivered") {
      backOff();
    }
    const result = toAttemptResult(pending, answer, { startedAt, now: world.now() });
    const seconds = "ms" in answer ? answer.ms / 1_000 : 0;
    world.metrics.webhook({ outcome, seconds, isLast: result.next_try_at === null });
    await saveAttemptResult(world, result);
    return undefined;
  },

  /** The process died in every attempt of the job. This counts as one failed attempt of the delivery. */
  async exhausted(payload, world) {
    const pending = await readPending(world, payload);
    if (pending) {
      const now = world.now();
      const answer = {
        outcome: "failed",
        reason: "other",
        detail: "The attempt was interrupted.",
        ms: 0,
      } as const;
      await saveAttemptResult(world, toAttemptResult(pending, answer, { startedAt: now, now }));
    }
  },
});

/** An event in the form in which it is posted. */
export interface SignedEvent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function signEvent(
  world: World,
  delivery: SealedSecrets & { readonly url: string; readonly event_id: string; readonly body: string },
): SignedEvent {
  const { url, event_id: id, body } = delivery;
  const secrets = signingSecrets(world, delivery);
  return { url, body, headers: signDelivery({ id, body, now: world.now(), secrets }) };
}

/** Redirects are not followed, so a redirect is a failed attempt. */
export function postEvent(
  { receivers }: World,
  event: SignedEvent,
  options: { signal?: AbortSignal } = {},
): Promise<WebResponse> {
  return receivers.send({
    ...event,
    method: "POST",
    timeoutMs,
    maxBytes: maxResponseBytes,
    tooLarge: "cut",
    ...options,
  });
}

function toAttemptResult(
  pending: PendingDelivery,
  answer: WebResponse,
  { startedAt, now }: { startedAt: Date; now: Date },
): AttemptResult {
  const isDelivered = classifyResponse(answer) === "delivered";
  const isGone = answer.outcome === "answered" && answer.status === 410;
  const step = pending.step + (isDelivered ? 0 : 1);
  const next = isDelivered || isGone ? undefined : nextTryAt({ step, answer, now });
  const next_try_at = next?.toISOString() ?? null;
  const statusAfterFailure = next ? "pending" : "failed";
  return {
    ...pending,
    // 410 Gone switches the webhook off, so the event is held until it is recovered.
    status: isDelivered ? "delivered" : isGone ? "held" : statusAfterFailure,
    step,
    next_try_at,
    isDelivered,
    isGone,
    attempt: {
      number: pending.turn,
      attempted_at: startedAt.toISOString(),
      ...describeResponse(answer),
      next_try_at,
    },
  };
}

/** Every status except 2xx is a failure. */
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
  // PostgreSQL cannot store a zero byte.
  const text = Buffer.from(answer.body).toString("utf8").replaceAll("\0", "");
  return { status_code: answer.status, ms: Math.round(answer.ms), error: null, answer: text };
}

/** Reads the delivery with its event and webhook; undefined if it is no longer pending at this turn. */
const readPending = coalesce(
  async (world: World, payloads: readonly DeliveryPayload[]): Promise<(PendingDelivery | undefined)[]> => {
    const { rows } = await rowsOf(pendingColumns)`
    select due.*, delivery.step, event.body, webhook.*
    from ${recordset("due", columnsOf("webhook_deliveries", "organization_id", "webhook_id", "event_id", "turn"), payloads)}
    cross join lateral (
      select step from webhook_deliveries
      where organization_id = due.organization_id and webhook_id = due.webhook_id and event_id = due.event_id
        and turn = due.turn and status = 'pending'
      ${byWholeKey}
    ) as delivery
    cross join lateral (
      select body from events
      where organization_id = due.organization_id and id = due.event_id
        and not exists (
          select from erasures
          where erasures.organization_id = events.organization_id
            and erasures.subject in (events.conversation_id, events.contact_id)
        )
      ${byWholeKey}
    ) as event
    cross join lateral (
      select url, is_active, failing_since, secret, previous_secret, previous_secret_until from webhooks
      where organization_id = due.organization_id and id = due.webhook_id
      ${byWholeKey}
    ) as webhook
  `.execute(world.database.queries);
    const pending = new Map(rows.map((row) => [deliveryKey(row), row]));
    return payloads.map((payload) => pending.get(deliveryKey(payload)));
  },
);
