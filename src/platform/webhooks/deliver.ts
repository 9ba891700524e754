/**
 * Makes one try of a delivery: reads it, sends it with no transaction open, and settles how it went.
 *
 * A process that dies in between leaves the turn as it was, so the same event is sent again under the same id:
 * at least once.
 */
import { sql } from "kysely";
import type { WebAnswer } from "../../ports/web.ts";
import { gather, type ModuleJob, type World } from "../kernel/index.ts";
import { type Due, deliveryJobName, nameOf } from "./job.ts";
import { nextTry } from "./schedule.ts";
import { hold, type Settled, settle } from "./settle.ts";
import { sign } from "./sign.ts";
import { type Secrets, secretsOf } from "./subscriptions.ts";

/** The specification's, for the whole exchange. */
const timeoutMs = 30_000;
/** Of the answer, what is kept to understand a failure by. */
const keptBytes = 4_096;

/** What is to be sent, and where. */
export interface Pending extends Due, Secrets {
  readonly url: string;
  readonly is_active: boolean;
  readonly failing_since: string | null;
  readonly body: string;
  readonly step: number;
}

export const deliver: ModuleJob<Due> = {
  name: deliveryJobName,

  async run(due, world, { signal, backOff }) {
    const pending = await readPending(world, due);
    if (!pending) {
      return undefined;
    }
    if (!pending.is_active) {
      await hold(world, due);
      return undefined;
    }
    const begun = world.now();
    const answer = await send(world, pending, { signal });
    if (answer.outcome === "failed" && answer.reason === "aborted") {
      throw new Error("The house is stopping: the delivery is tried again by the next.");
    }
    const outcome = outcomeOf(answer);
    if (outcome !== "delivered") {
      backOff();
    }
    world.metrics.webhook({ outcome, seconds: "ms" in answer ? answer.ms / 1_000 : 0 });
    await settle(world, conclude(pending, answer, { begun, now: world.now() }));
    return undefined;
  },

  /** Its process died in each of its tries: one failure more. */
  async exhausted(due, world) {
    const pending = await readPending(world, due);
    if (pending) {
      const now = world.now();
      const answer = { outcome: "failed", reason: "other", detail: "The try was cut short.", ms: 0 } as const;
      await settle(world, conclude(pending, answer, { begun: now, now }));
    }
  },
};

/** Posts a body with its signatures; a redirect is an answer like any other, and none that is meant. */
export function send(
  world: World,
  told: Secrets & { readonly url: string; readonly event_id: string; readonly body: string },
  options: { signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<WebAnswer> {
  const { url, event_id: id, body } = told;
  const now = world.now();
  return world.web.send({
    method: "POST",
    url,
    body,
    headers: sign({ id, body, now, secrets: secretsOf(world, told) }),
    timeoutMs,
    maxBytes: keptBytes,
    tooLarge: "cut",
    ...options,
  });
}

/** What a try's answer makes of its delivery. */
function conclude(pending: Pending, answer: WebAnswer, { begun, now }: { begun: Date; now: Date }): Settled {
  const isDelivered = outcomeOf(answer) === "delivered";
  const isGone = answer.outcome === "answered" && answer.status === 410;
  const step = pending.step + (isDelivered ? 0 : 1);
  const next = isDelivered || isGone ? undefined : nextTry({ step, answer, now });
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
      ...describe(answer),
      next_try_at,
    },
  };
}

/** Whatever is not a 2xx is a failure. */
export function outcomeOf(answer: WebAnswer) {
  if (answer.outcome !== "answered") {
    return "unreachable";
  }
  return answer.status >= 200 && answer.status <= 299 ? "delivered" : "refused";
}

function describe(answer: WebAnswer) {
  if (answer.outcome !== "answered") {
    const ms = answer.outcome === "failed" ? answer.ms : 0;
    return { status_code: null, ms, error: answer.detail, answer: null };
  }
  // A zero byte has no place in PostgreSQL.
  const text = Buffer.from(answer.body).toString("utf8").replaceAll("\0", "");
  return { status_code: answer.status, ms: Math.round(answer.ms), error: null, answer: text };
}

/** What waits for this very try, with its webhook; undefined when there is nothing to do any more. */
const readPending = gather(async (world, dues: readonly Due[]): Promise<(Pending | undefined)[]> => {
  // Each row is looked up by its whole key: a join may be planned to begin with all that the organization has.
  const { rows } = await sql<Pending>`
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
  const found = new Map(rows.map((row) => [nameOf(row), row]));
  return dues.map((due) => found.get(nameOf(due)));
});
