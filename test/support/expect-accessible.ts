/** Checks pages with axe: https://github.com/dequelabs/axe-core */
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** The widths in pixels at which every page is checked. */
export const pageWidths = [1280, 360] as const;

/** WCAG 2.2, level AA. */
const conformance = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** The rules of axe that depend on colors. */
const contrast = ["color-contrast", "link-in-text-block"];

/**
 * Expects that axe finds nothing on a page that is shown in light, that the contrast suffices in dark too,
 * and that the page is not wider than its window, nor higher where it has the frame of a window's height.
 * @param place names the part of the page in the message of a failure.
 */
export async function expectAccessible(page: Page, place: string): Promise<void> {
  await page.evaluate(axe.source);
  const light = await findViolations(page, conformance);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await findViolations(page, contrast);
  await page.emulateMedia({ colorScheme: "light" });
  const overflow = await page.evaluate(readOverflow);
  const width = page.viewportSize()?.width;
  expect({ place, width, light, dark, overflow }).toEqual({
    place,
    width,
    light: [],
    dark: [],
    overflow: [0, 0],
  });
}

/** To the right and downwards, in pixels. */
const readOverflow = `[
  document.documentElement.scrollWidth - innerWidth,
  document.querySelector(".frame") === null ? 0 : document.documentElement.scrollHeight - innerHeight,
]`;

async function findViolations(page: Page, rules: string[]): Promise<string[]> {
  return page.evaluate(async (runOnly) => {
    // Runs in the page, where axe-core is loaded.
    const { axe: loaded } = globalThis as unknown as { axe: typeof import("axe-core") };
    const { violations } = await loaded.run({ runOnly });
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  }, rules);
}
