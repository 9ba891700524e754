/**
 * Measures how long single messages take from the request to their delivery, while other work keeps the
 * service busy.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../../../src/client/index.ts";
import { messages } from "../../../tools/messages/index.ts";

export interface Replies extends AsyncDisposable {
  /** In milliseconds. */
  readonly times: readonly number[];
}

const everyMs = 300;
const pollMs = 10;

/** Sends one message after the other until it is disposed. */
export function startReplies(client: Client, to: string): Replies {
  const times: number[] = [];
  let isOver = false;
  const run = async () => {
    while (!isOver) {
      times.push(await timeOf(client, to));
      await sleep(everyMs);
    }
  };
  const running = run();
  return {
    times,
    async [Symbol.asyncDispose]() {
      isOver = true;
      await running;
    },
  };
}

async function timeOf(client: Client, to: string): Promise<number> {
  const startedAt = performance.now();
  const input = { to, type: "text", text: { body: "A reply" } } as const;
  const { conversation_id, id: message_id } = (await client.call(messages.send_message, input)).data;
  for (;;) {
    const { status } = (await client.call(messages.get_message, { conversation_id, message_id })).data;
    if (status === "delivered") {
      return performance.now() - startedAt;
    }
    await sleep(pollMs);
  }
}
