/** A customer of the simulated channel: writes, and reads what the phone shows. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { BuiltService } from "../conformance/service.ts";

/** How long a customer waits for an answer. */
const answerLimitMs = 15_000;

export interface Customer {
  readonly number: string;
  write(text: string): Promise<void>;
  /** The texts that the business has sent, oldest first. */
  received(): Promise<readonly string[]>;
  /** Waits until the business has sent something. */
  untilAnswered(): Promise<void>;
}

interface Shown {
  readonly data: readonly { readonly direction: string; readonly text?: { readonly body: string } }[];
}

export function createCustomer({ url, key }: BuiltService, number: string): Customer {
  const send = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${url}/simulator${path}`, {
      method: body ? "POST" : "GET",
      headers: { "X-API-Key": key, ...(body ? { "Content-Type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    assert(response.ok, `${path} answered ${response.status}`);
    return response.json();
  };
  const received = async () => {
    const { data } = (await send(`/phones/${number}/messages`)) as Shown; // by docs/simulated-channel.md
    const outbound = data.filter(({ direction }) => direction === "outbound");
    return outbound.map(({ text }) => text?.body ?? "").reverse();
  };
  return {
    number,
    received,
    async write(text) {
      await send("/inbound", { from: number, text });
    },
    async untilAnswered() {
      for (const endsAt = Date.now() + answerLimitMs; (await received()).length === 0; await sleep(100)) {
        assert(Date.now() < endsAt, `${number} got no answer within ${answerLimitMs / 1000} s`);
      }
    },
  };
}
