/** Checks the accessibility of a page by the rules of WCAG 2.2, level AA. */
import axe from "axe-core";
import type { Page } from "playwright-core";

/** Each violation as its rule and the first element that violates it. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const tags = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"];
    // Runs in the page, where axe-core is loaded.
    const { axe: loaded } = globalThis as unknown as { axe: typeof import("axe-core") };
    const { violations } = await loaded.run({ runOnly: tags });
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  });
}
