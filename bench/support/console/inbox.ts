/** How soon the inbox can be used, and how soon it shows a new message. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { median } from "../median.ts";
import { type ConsoleBench, openConsole, post, report } from "./page.ts";

const loads = 10;
const arrivals = 20;

interface Load {
  /** From the request of the list to its complete answer, in milliseconds. */
  readonly answer: number;
  /** From then until the rows are shown and the page has time for input. */
  readonly usable: number;
}

/** The request of the list. */
const listAddress = /\/v1\/conversations\?.*per_page=30/;
/** By then the other parts of the page have loaded. */
const quietMs = 1_000;

export async function measureList(bench: ConsoleBench): Promise<void> {
  const measured: Load[] = [];
  for (let load = 0; load < loads; load += 1) {
    measured.push(await loadList(bench));
  }
  const usable = median(measured.map((load) => load.usable));
  report(
    "inbox: answer of the list, median of 10",
    `${median(measured.map((load) => load.answer)).toFixed(0)} ms`,
  );
  report("inbox: usable after the answer, median of 10", `${usable.toFixed(0)} ms`, {
    value: usable,
    target: 300,
  });
  const work: number[] = [];
  for (let load = 0; load < loads; load += 1) {
    work.push(await measureWork(bench));
  }
  report("inbox: processor time after the answer, median of 10", `${median(work).toFixed(0)} ms`);
}

async function loadList(bench: ConsoleBench): Promise<Load> {
  const page = await openConsole(bench);
  const shownAt = await waitForRows(page);
  const { start, end } = (await page.evaluate(`(() => {
    const list = performance.getEntriesByType("resource").find(({ name }) => ${listAddress}.test(name));
    return { start: list.requestStart, end: list.responseEnd };
  })()`)) as { start: number; end: number };
  await page.close();
  return { answer: end - start, usable: shownAt - end };
}

/** @returns when the rows were shown and the page had time for input, in the page's own time */
function waitForRows(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const look = () => {
      if (document.querySelector("[data-conversation]") === null) {
        requestAnimationFrame(look);
      } else {
        // After this frame is shown and earlier tasks have ended.
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
      }
    };
    look();
  })`);
}

/**
 * Processor time of the page's thread from the answer until the inbox is usable, in milliseconds: other
 * programs on the machine do not lengthen it. The answer is held back until the rest has loaded.
 */
async function measureWork({ context, baseUrl }: ConsoleBench): Promise<number> {
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const readWork = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1_000;
  };
  let before = Number.NaN;
  await page.route(listAddress, async (route) => {
    const response = await route.fetch();
    await sleep(quietMs);
    // The list is read once more when the stream of events opens.
    before = Number.isNaN(before) ? await readWork() : before;
    await route.fulfill({ response });
  });
  await page.goto(`${baseUrl}/console/`);
  await waitForRows(page);
  const after = await readWork();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.close();
  return after - before;
}

export async function measureArrival(bench: ConsoleBench): Promise<void> {
  const page = await openConsole(bench);
  await page.locator("[data-conversation]").first().waitFor();
  const times: number[] = [];
  for (let arrival = 0; arrival < arrivals; arrival += 1) {
    const text = `Arrival number ${arrival}.`;
    const shownAt = page.evaluate(`new Promise((resolve) => {
      const look = () => {
        const rows = [...document.querySelectorAll("[data-conversation]")];
        if (rows.some((row) => row.textContent.includes(${JSON.stringify(text)}))) {
          resolve(Date.now());
        } else {
          requestAnimationFrame(look);
        }
      };
      look();
    })`);
    const sentAt = Date.now();
    const [at] = await Promise.all([
      shownAt,
      post(bench, "/simulator/inbound", { from: `+1415556${1000 + arrival}`, text }),
    ]);
    times.push(Number(at) - sentAt);
  }
  await page.close();
  const typical = median(times);
  report("from the phone to the inbox, median of 20", `${typical} ms`, { value: typical, target: 1_000 });
  report("from the phone to the inbox, longest of 20", `${Math.max(...times)} ms`);
}
