/**
 * A client that repeats each call until the service takes it: the service is killed and started again
 * meanwhile, and answers 503 when its database is busy.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CallFailure, type Client, createClient, NoResponseError } from "../../src/client/index.ts";

const giveUpMs = 120_000;
const pauseMs = 200;

/** Calls that change something need their own idempotency key, so that a repeated call counts once. */
export function createPersistentClient(baseUrl: string, key: string): Client {
  const client = createClient({ baseUrl, key, timeoutMs: 60_000, retries: 3 });
  return {
    ...client,
    async call(operation, input, options) {
      const startedAt = performance.now();
      for (;;) {
        try {
          return await client.call(operation, input, options);
        } catch (error) {
          if (!mayBeRepeated(error) || performance.now() - startedAt > giveUpMs) {
            throw error;
          }
          await sleep(pauseMs);
        }
      }
    },
  };
}

const mayBeRepeated = (error: unknown) =>
  error instanceof NoResponseError || (error instanceof CallFailure && error.code === "unavailable");
