/** How many messages of a long thread are in the page while the reader scrolls up. */
import type { Page } from "playwright-core";
import { pollUntil } from "../service.ts";
import { type ConsoleBench, openConsole, report } from "./page.ts";

const scrolls = 20;

export async function measureRows(bench: ConsoleBench, conversation: string): Promise<void> {
  const page = await openConsole(bench, `inbox/${conversation}`);
  await page.getByRole("log").locator("[data-message]").first().waitFor();
  const oldest = [await readOldest(page)];
  const counts = [await countRows(page)];
  for (let scroll = 0; scroll < scrolls; scroll += 1) {
    await page.getByRole("log").evaluate((log) => {
      log.scrollTop = 0;
    });
    await pollUntil(async () => (await readOldest(page)) !== oldest.at(-1));
    oldest.push(await readOldest(page));
    counts.push(await countRows(page));
  }
  await page.close();
  const most = Math.max(...counts);
  report(`thread of 10,000: most rows while scrolling up ${scrolls} times`, String(most), {
    value: most,
    target: 400,
  });
  // The planted messages have their number in their id.
  const numberOf = (id = "") => Number.parseInt(id.slice("msg_".length), 16);
  const passed = numberOf(oldest[0]) - numberOf(oldest.at(-1));
  report("thread of 10,000: messages that were passed", String(passed));
}

function readOldest(page: Page): Promise<string> {
  return page.evaluate('document.querySelector("[role=log] [data-message]").dataset.message');
}

function countRows(page: Page): Promise<number> {
  return page.getByRole("log").locator("li").count();
}
