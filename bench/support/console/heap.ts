/** The memory of a page after few and after many events, with garbage collected. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession } from "playwright-core";
import { pollUntil } from "../service.ts";
import { type ConsoleBench, openConsole, post, report } from "./page.ts";

const [few, many] = [1_000, 18_000];
const senders = 8;
const contacts = 200;
/** By then the page has read what the last events changed. */
const restMs = 3_000;

/**
 * The page shows the conversation that gets every eighth message; the other messages go to 200 contacts. Half
 * of the messages are the customers', and half are replies, with their receipts.
 */
export async function measureHeap(bench: ConsoleBench): Promise<void> {
  await using events = await countEvents(bench);
  const shown = "+14155570000";
  await post(bench, "/simulator/inbound", { from: shown, text: "The first message." });
  const page = await openConsole(bench);
  await page.getByText("The first message.").first().click();
  await page.getByRole("log").getByText("The first message.").waitFor();
  const devtools = await page.context().newCDPSession(page);

  let sent = 0;
  const sendUntil = async (count: number) => {
    const startedAt = performance.now();
    await Promise.all(
      Array.from({ length: senders }, async () => {
        while (events.count < count) {
          const number = sent;
          sent += 1;
          const other = `+1415557${1000 + (number % contacts)}`;
          await exchange(bench, number % senders === 0 ? shown : other, number);
        }
      }),
    );
    await sleep(restMs);
    return (performance.now() - startedAt) / 1_000;
  };

  await sendUntil(few);
  const before = await readHeap(devtools);
  const seconds = await sendUntil(many);
  const after = await readHeap(devtools);
  await page.getByRole("log").locator("[data-message]").last().waitFor();
  report(`heap after ${few} events`, `${before.toFixed(1)} MB`);
  report(`heap after ${many} events (${seconds.toFixed(0)} s)`, `${after.toFixed(1)} MB`);
  report("ratio of the two", (after / before).toFixed(2), { value: after / before, target: 1.5 });
  await page.close();
}

/** A customer writes and is answered. */
async function exchange(bench: ConsoleBench, number: string, count: number): Promise<void> {
  await post(bench, "/simulator/inbound", { from: number, text: `Question ${count}: where is my order?` });
  const text = { body: `Answer ${count}: it is on its way to you.` };
  await post(bench, "/v1/messages", { to: number, type: "text", text });
}

/** The used size of the page's heap in MB. */
async function readHeap(devtools: CDPSession): Promise<number> {
  await devtools.send("HeapProfiler.collectGarbage");
  await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await devtools.send("Runtime.getHeapUsage");
  return usedSize / 1_000_000;
}

/** Counts the events of the stream as the page gets them. */
async function countEvents({
  baseUrl,
  key,
}: ConsoleBench): Promise<AsyncDisposable & { readonly count: number }> {
  const aborting = new AbortController();
  const { body } = await fetch(`${baseUrl}/v1/events/stream`, {
    headers: { "x-api-key": key },
    signal: aborting.signal,
  });
  let count = -1; // The first event is `open`.
  const read = async () => {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      count += chunk.match(/^event: /gm)?.length ?? 0;
    }
  };
  const reading = read().catch(() => undefined);
  await pollUntil(() => count === 0);
  return {
    get count() {
      return count;
    },
    async [Symbol.asyncDispose]() {
      aborting.abort();
      await reading;
    },
  };
}
