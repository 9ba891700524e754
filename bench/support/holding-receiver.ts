/**
 * A receiver that counts the calls of each number, which is the first segment of the path, and can delay its
 * answers.
 */
import type { ServerResponse } from "node:http";
import { startReceiver } from "../../test/support/receiver.ts";

export interface HoldingReceiver extends AsyncDisposable {
  readonly baseUrl: string;
  countOf(number: number): number;
  /** From now on calls wait for their answer. */
  hold(): void;
  /** Answers the waiting calls, and later calls at once. */
  release(): void;
}

export async function startHoldingReceiver(): Promise<HoldingReceiver> {
  const counts = new Map<number, number>();
  const waiting: ServerResponse[] = [];
  let isHolding = false;
  const countOf = (number: number) => counts.get(number) ?? 0;
  const answer = (response: ServerResponse) =>
    response.writeHead(200, { "content-type": "text/plain" }).end("A note.");
  const receiver = await startReceiver((request, response) => {
    const number = Number(request.url?.split("/")[1]);
    counts.set(number, countOf(number) + 1);
    request.resume();
    if (isHolding) {
      waiting.push(response);
    } else {
      answer(response);
    }
  });
  return {
    baseUrl: `http://127.0.0.1:${receiver.port}`,
    countOf,
    hold() {
      isHolding = true;
    },
    release() {
      isHolding = false;
      waiting.splice(0).forEach(answer);
    },
    [Symbol.asyncDispose]: receiver[Symbol.asyncDispose],
  };
}
