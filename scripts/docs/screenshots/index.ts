/**
 * Takes the pictures of the console for docs/console.md: `npm run screenshots`, after `npm run build`. Needs
 * Chromium. Starts the built service on a temporary folder and fills it with an example.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import sharp from "sharp";
import { browserPath } from "../../../test/support/browser.ts";
import { startProgram } from "../commands/program.ts";
import { fillInbox, owner } from "./fill-inbox.ts";

const folder = "docs/images";
/** Larger pictures make the pages of the documentation slow, and the package large. */
const mostBytes = 120_000;

const pictures = [
  { file: "inbox-light.png", colorScheme: "light", width: 1280, height: 720 },
  { file: "inbox-dark.png", colorScheme: "dark", width: 1280, height: 720 },
  { file: "inbox-narrow.png", colorScheme: "light", width: 360, height: 720 },
  { file: "playground.png", colorScheme: "light", width: 1280, height: 720 },
] as const;

const key = `sk_live_${"s".repeat(43)}`;
const dataDir = await mkdtemp(join(tmpdir(), "tidings-screenshots-"));
const env = {
  PATH: process.env.PATH,
  PORT: "0",
  TIDINGS_DATA_DIR: dataDir,
  TIDINGS_BOOTSTRAP_KEY: key,
  TIDINGS_OWNER_EMAIL: owner.email,
  TIDINGS_OWNER_PASSWORD: owner.password,
  TIDINGS_LOG_LEVEL: "error",
};
try {
  await using service = await startProgram(["serve"], env, /MCP +(http:\S+)\/mcp/);
  const conversation = await fillInbox(service.address, key);
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  try {
    await takeAll(browser, `${service.address}/console/inbox/${conversation}`);
  } finally {
    await browser.close();
  }
} finally {
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
}

async function takeAll(browser: Browser, address: string): Promise<void> {
  for (const { file, colorScheme, width, height } of pictures) {
    const context = await browser.newContext({
      colorScheme,
      viewport: { width, height },
      reducedMotion: "reduce",
      locale: "en-GB",
    });
    const page = await context.newPage();
    await page.goto(address);
    await page.getByLabel("E-mail address").fill(owner.email);
    await page.getByLabel("Password").fill(owner.password);
    await page.keyboard.press("Enter");
    await page.getByRole("log").locator("[data-message]").last().waitFor();
    await page.locator("[data-conversation]").first().waitFor({ state: "attached" });
    // The open conversation is marked as read.
    await page.locator("[aria-current] .badge").waitFor({ state: "detached" });
    if (file === "playground.png") {
      await page.getByRole("link", { name: "Playground" }).click();
      await page.locator("[data-phone]").last().waitFor();
      await page.locator("[data-trace]").last().waitFor();
    }
    const path = join(folder, file);
    // A palette is enough for a page without photos, and takes a third of the bytes.
    const { size } = await sharp(await page.screenshot())
      .png({ palette: true, effort: 10 })
      .toFile(path);
    await context.close();
    console.log(`${path}: ${(size / 1_000).toFixed(0)} kB`);
    if (size > mostBytes) {
      throw new Error(`${path} has more than ${mostBytes / 1_000} kB.`);
    }
  }
}
