/** Moves the focus of a page as a person without a pointer does. */
import type { Locator, Page } from "playwright-core";

const mostSteps = 60;

/** Presses Tab until the element has the focus. */
export async function focusByTab(page: Page, element: Locator): Promise<void> {
  await element.waitFor();
  for (let step = 0; step < mostSteps; step += 1) {
    if (await hasFocus(element)) {
      return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab reached ${element} in none of ${mostSteps} steps.`);
}

export function hasFocus(element: Locator): Promise<boolean> {
  return element.evaluate((node) => node === node.ownerDocument.activeElement);
}
