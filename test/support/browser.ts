/**
 * A browser for the tests of pages: the program that TEST_BROWSER names, or a Chromium of Debian's. Without
 * one these tests are skipped.
 */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";

/** The first has no windows, and the tests take half the time with it. */
const installed = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);
export const browserPath = process.env.TEST_BROWSER ?? installed ?? "/usr/bin/chromium";
export const hasBrowser = existsSync(browserPath);

/** Tests of pages. A page with every dialog can take minutes on a busy machine. */
export function describePages(tests: () => void): void {
  describe.skipIf(!hasBrowser)(`in ${browserPath}`, { timeout: 300_000 }, tests);
}

/** One browser for the tests of a `describe`, running while they do. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());
  return () => {
    if (browser === undefined) {
      throw new Error("The browser runs only during tests.");
    }
    return browser;
  };
}
