/**
 * Time limits of calls to third parties: they hold while the process collects garbage, and
 * after it was frozen.
 */
import { EventEmitter, once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClock } from "../emulator/clock.ts";
import { LinkFetcher } from "../emulator/sending/links.ts";
import { createFetchFile } from "../src/adapters/channel/whatsapp/files.ts";
import { askGraph as askWhatsApp } from "../src/adapters/channel/whatsapp/http.ts";
import { createEmbedder, createLanguageModel } from "../src/adapters/models/openai/index.ts";
import { askRazorpay } from "../src/adapters/payments/razorpay/http.ts";
import { createWeb } from "../src/adapters/web/index.ts";
import { startDeadline } from "../src/time/deadline.ts";
import { webhookTimeoutSeconds } from "../tools/webhooks.ts";
import { startReceiver } from "./support/receiver.ts";
import { development } from "./support/web.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new AbortController().signal;
const whatsapp = (baseUrl: string) => ({ baseUrl, version: "v1", mediaHosts: [] });
const account = {
  phone_number_id: "1",
  waba_id: "2",
  app_id: "3",
  access_token: "token",
  app_secret: "secret",
  verify_token: "verify",
};

const model = (url: string) => ({ url, key: undefined, model: "model" });

function requireOutcome(expected: string, { outcome }: { readonly outcome: string }): void {
  if (outcome !== expected) {
    throw new Error(`The outcome is ${outcome}.`);
  }
}

interface Place {
  readonly name: string;
  readonly limitMs: number;
  /** How many requests are answered before one hangs. */
  readonly answered: number;
  call(baseUrl: string): Promise<unknown>;
}

const places: readonly Place[] = [
  {
    name: "a request to WhatsApp",
    limitMs: 8_000,
    answered: 0,
    call: (baseUrl) =>
      askWhatsApp(
        { settings: whatsapp(baseUrl), credentials: account, signal: never },
        { method: "GET", path: "/1" },
      ),
  },
  {
    name: "the download of a received file",
    limitMs: 60_000,
    answered: 1,
    call: (baseUrl) =>
      createFetchFile(whatsapp(baseUrl))(account, { id: "7", signal: never }, async () => undefined),
  },
  {
    name: "a request to Razorpay",
    limitMs: 6_000,
    answered: 0,
    call: (baseUrl) =>
      askRazorpay(
        { baseUrl, keyId: "id", keySecret: "secret", webhookSecret: "secret" },
        { method: "GET", path: "/orders" },
        never,
      ),
  },
  {
    name: "a request to an embedding model",
    limitMs: 60_000,
    answered: 0,
    call: async (baseUrl) =>
      requireOutcome(
        "embedded",
        await createEmbedder({ ...model(baseUrl), timeoutMs: 60_000, dimensions: undefined }).embed(
          ["text"],
          { signal: never },
        ),
      ),
  },
  {
    name: "a request to a language model",
    limitMs: 30_000,
    answered: 0,
    call: async (baseUrl) =>
      requireOutcome(
        "answered",
        await createLanguageModel({ ...model(baseUrl), timeoutMs: 30_000 }).complete({
          system: "",
          maxOutputTokens: 100,
          signal: never,
          messages: [{ role: "user", content: "What do you sell?" }],
        }),
      ),
  },
  {
    name: "a webhook delivery",
    limitMs: 30_000,
    answered: 0,
    call: async (url) => {
      await using web = createWeb({ rules: development });
      requireOutcome(
        "answered",
        await web.send({
          method: "POST",
          url,
          timeoutMs: webhookTimeoutSeconds * 1_000,
          maxBytes: 1_000,
          tooLarge: "cut",
        }),
      );
    },
  },
  {
    name: "a file that the emulator fetches",
    limitMs: 10_000,
    answered: 0,
    call: (baseUrl) =>
      new Promise((_, reject) => {
        const links = new LinkFetcher(createClock(0));
        links.fetch([{ link: `${baseUrl}/a.png`, kind: "image" }], () => reject(new Error("No file.")));
      }),
  },
];

test.each(places)("$name ends at its limit although garbage is collected", async (place) => {
  const arrivals = new EventEmitter();
  let address = "";
  await using receiver = await startReceiver((_, response) => {
    if (receiver.requests > place.answered) {
      return arrivals.emit("hanging");
    }
    return response.end(JSON.stringify({ url: `${address}/file` }));
  });
  address = `http://127.0.0.1:${receiver.port}`;
  const hanging = once(arrivals, "hanging");
  let isOver = false;
  const call = place.call(address).finally(() => {
    isOver = true;
  });
  call.catch(() => undefined);
  await hanging;
  collectGarbage();
  await vi.advanceTimersByTimeAsync(place.limitMs - 1);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await expect(call).rejects.toThrow();
});

describe("a deadline", () => {
  test("ends with the time limit, and says so", async () => {
    const deadline = startDeadline(50);
    collectGarbage();
    await vi.advanceTimersByTimeAsync(50);
    expect([deadline.ended, deadline.signal.reason.name]).toEqual(["timeout", "TimeoutError"]);
  });

  test("ends with the caller's signal and its reason", () => {
    const caller = new AbortController();
    const deadline = startDeadline(50, [caller.signal]);
    const reason = new Error("The caller left.");
    caller.abort(reason);
    expect([deadline.ended, deadline.signal.reason]).toEqual(["aborted", reason]);
  });

  test("of a signal that was aborted before has ended at once", () => {
    const deadline = startDeadline(50, [AbortSignal.abort("gone")]);
    expect([deadline.ended, deadline.signal.reason]).toEqual(["aborted", "gone"]);
  });

  test("lets no request leave when its time is over, before its timer has run", () => {
    const deadline = startDeadline(50);
    deadline.throwIfEnded();
    const { now } = performance;
    vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + 50);
    expect(() => deadline.throwIfEnded()).toThrow("took longer than 50 ms");
    expect(deadline.ended).toBe("timeout");
  });

  test("that was stopped does not end", async () => {
    const caller = new AbortController();
    const deadline = startDeadline(50, [caller.signal]);
    deadline.stop();
    caller.abort();
    await vi.advanceTimersByTimeAsync(50);
    expect([deadline.ended, deadline.signal.aborted]).toEqual([undefined, false]);
  });
});
