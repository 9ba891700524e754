/**
 * Sends webhooks and tries again while the receiver does not answer 200.
 *
 * A delivery is one POST with one or more changes. It is pending until the receiver answers 200. Otherwise it
 * is tried again after 1 second, 2, 4 and so on, at most an hour apart, for 7 days. Deliveries are
 * independent: they run in parallel, and a failing one delays no other, so their order is not guaranteed.
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

/** Sends deliveries until they are stopped. */
export class Deliverer {
  readonly #clock: Clock;
  readonly #agent = new Agent({
    connections: 64,
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
  });
  readonly #underWay = new Set<Promise<void>>();
  #log: Delivery[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The last deliveries, the oldest first. */
  get log(): readonly Delivery[] {
    return this.#log;
  }

  deliver({ url, secret }: Target, changes: readonly Change[]): void {
    const delivery = toDelivery(url, changes, this.#clock.now());
    this.#log.push(delivery);
    if (this.#log.length > maxLogged) {
      this.#log.shift();
    }
    this.#start(delivery, serialize(toPayload(changes, this.#clock.now())), secret);
  }

  /** Empties the log, and tries none of its deliveries again. */
  forget(): void {
    for (const delivery of this.#log) {
      delivery.state = delivery.state === "pending" ? "dropped" : delivery.state;
    }
    this.#log = [];
  }

  /** Resolves when no request is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) {
      await Promise.all(this.#underWay);
    }
  }

  stop(): Promise<void> {
    return this.#agent.destroy();
  }

  #start(delivery: Delivery, body: Buffer, secret: string): void {
    const running: Promise<void> = this.#attempt(delivery, body, secret).finally(() =>
      this.#underWay.delete(running),
    );
    this.#underWay.add(running);
  }

  async #attempt(delivery: Delivery, body: Buffer, secret: string): Promise<void> {
    const at = new Date(this.#clock.now()).toISOString();
    const result = await post(this.#agent, delivery.url, body, sign(body, secret));
    delivery.attempts.push({ at, result });
    const delay = Math.min(longestRetryMs, firstRetryMs * 2 ** (delivery.attempts.length - 1));
    if (result === 200) {
      delivery.state = "delivered";
    } else if (this.#clock.now() + delay - Date.parse(delivery.created_at) > giveUpAfterMs) {
      delivery.state = "dropped";
    } else {
      this.#clock.after(delay, () => {
        if (delivery.state === "pending") {
          this.#start(delivery, body, secret);
        }
      });
    }
  }
}

function toDelivery(url: string, changes: readonly Change[], now: number): Delivery {
  const fields = changes.map(({ field }) => field);
  const created_at = new Date(now).toISOString();
  return { id: newId(), url, created_at, fields, state: "pending", attempts: [] };
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
