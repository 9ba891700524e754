/** The playground in the tests of its stories. */
import type { Locator, Page } from "playwright-core";

/** The phone of the customer with this name or, without one, this number. */
export const phoneOf = (page: Page, name: string): Locator =>
  page.getByRole("region", { name: `Phone of ${name}` });

/** Writes as the customer, and waits until the phone shows the text. */
export async function writeOnPhone(page: Page, text: string): Promise<void> {
  const bubbles = page.locator("[data-phone].own");
  const field = page.getByLabel("Write as the customer");
  await field.waitFor();
  const before = await bubbles.count();
  await field.fill(text);
  await field.press("Enter");
  await bubbles.nth(before).waitFor();
}

/** The entry of the trace for the message with this text. */
export const traceOf = (page: Page, text: string): Locator =>
  page.locator("[data-trace]").filter({ has: page.locator(".trace-text", { hasText: text }) });
