/**
 * Sends webhooks and tries again while the receiver does not answer 200.
 *
 * A delivery is one POST with one or more changes. It is pending until the receiver answers 200. Otherwise it is tried
 * again after 1 second, 2, 4 and so on, at most an hour apart, for 7 days. Deliveries are independent: they run in
 * parallel, and a failing one delays no other, so their order is not guaranteed.
 */
import { Agent, request } from "undici";
import { type Clock, toUnixSeconds } from "../clock.ts";
import { newId } from "../state/ids.ts";
import { serialize, sign } from "./sign.ts";

const firstRetryMs = 1_000;
const longestRetryMs = 3_600_000;
const giveUpAfterMs = 7 * 24 * 3_600_000;
const answerTimeoutMs = 10_000;
/** The log of deliveries has the last ones. */
const maxLogged = 1_000;

/** One change of an account, as an entry of a webhook has it. */
export interface Change {
  readonly account_id: string;
  readonly field: string;
  readonly value: object;
}

export interface Target {
  readonly url: string;
  readonly secret: string;
}

export interface Attempt {
  readonly at: string;
  /** The receiver's status, or why there is none. */
  readonly result: number | string;
}

export interface Delivery {
  readonly id: string;
  readonly url: string;
  readonly created_at: string;
  readonly fields: readonly string[];
  state: "pending" | "delivered" | "dropped";
  readonly attempts: Attempt[];
}

export interface Deliverer {
  readonly log: readonly Delivery[];
  deliver(target: Target, changes: readonly Change[]): void;
  /** Resolves when no request is under way. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

export function createDeliverer(clock: Clock): Deliverer {
  const agent = new Agent({ connections: 64, headersTimeout: answerTimeoutMs, bodyTimeout: answerTimeoutMs });
  const log: Delivery[] = [];
  const underWay = new Set<Promise<void>>();

  const attempt = async (delivery: Delivery, body: Buffer, secret: string) => {
    const at = new Date(clock.now()).toISOString();
    const result = await post(agent, delivery.url, body, sign(body, secret));
    delivery.attempts.push({ at, result });
    if (result === 200) {
      delivery.state = "delivered";
      return;
    }
    const delay = Math.min(longestRetryMs, firstRetryMs * 2 ** (delivery.attempts.length - 1));
    if (clock.now() + delay - Date.parse(delivery.created_at) > giveUpAfterMs) {
      delivery.state = "dropped";
      return;
    }
    clock.after(delay, () => start(delivery, body, secret));
  };

  const start = (delivery: Delivery, body: Buffer, secret: string) => {
    const running: Promise<void> = attempt(delivery, body, secret).finally(() => underWay.delete(running));
    underWay.add(running);
  };

  return {
    log,
    deliver({ url, secret }, changes) {
      const delivery: Delivery = {
        id: newId(),
        url,
        created_at: new Date(clock.now()).toISOString(),
        fields: changes.map(({ field }) => field),
        state: "pending",
        attempts: [],
      };
      log.push(delivery);
      if (log.length > maxLogged) {
        log.shift();
      }
      start(delivery, serialize(toPayload(changes, clock.now())), secret);
    },
    async idle() {
      while (underWay.size > 0) {
        await Promise.all(underWay);
      }
    },
    stop: () => agent.destroy(),
  };
}

function toPayload(changes: readonly Change[], now: number): object {
  const accounts = [...new Set(changes.map(({ account_id }) => account_id))];
  return {
    object: "whatsapp_business_account",
    entry: accounts.map((id) => ({
      id,
      time: Number(toUnixSeconds(now)),
      changes: changes
        .filter(({ account_id }) => account_id === id)
        .map(({ field, value }) => ({ value, field })),
    })),
  };
}

/** @returns the status, or the reason why there is none */
async function post(agent: Agent, url: string, body: Buffer, signature: string): Promise<number | string> {
  try {
    const answer = await request(url, {
      dispatcher: agent,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "facebookexternalua",
        "x-hub-signature-256": signature,
      },
      body,
    });
    await answer.body.dump();
    return answer.statusCode;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
