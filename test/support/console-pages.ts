/** Pages of the console in Chromium, each in a browser context of its own, and what they show. */
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { ownerEmail, ownerPassword } from "./app.ts";
import { useBrowser } from "./browser.ts";
import { focusByTab } from "./focus-by-tab.ts";
import { programPath } from "./process.ts";

/** The built pages, for an app that runs in the test. */
export const consoleFolder = pathToFileURL(`${resolve(dirname(programPath), "console")}/`);

type StorageState = Awaited<ReturnType<BrowserContext["storageState"]>>;

/** How a page is shown, and the stored session that it begins with. */
export type PageForm = Pick<BrowserContextOptions, "storageState"> & { readonly width?: number };

interface Credentials {
  readonly email: string;
  readonly password: string;
}

const owner: Credentials = { email: ownerEmail, password: ownerPassword };

export interface ConsolePages {
  /** Opens an address below /console/ as a new browser: nobody is signed in. */
  open(path: string, form?: PageForm): Promise<Page>;
  /** The same, signed in as the owner or as the person. */
  openSignedIn(path?: string, form?: PageForm, person?: Credentials): Promise<Page>;
}

/** The console in the tests of a `describe`. @param readAddress returns the service's address. */
export function useConsolePages(readAddress: () => string | Promise<string>): ConsolePages {
  const browser = useBrowser();
  const states = new Map<string, StorageState>();

  const open: ConsolePages["open"] = async (path, { width = 1280, ...form } = {}) => {
    const context = await browser().newContext({ ...form, viewport: { width, height: 800 } });
    const page = await context.newPage();
    page.on("pageerror", (error) => {
      throw error;
    });
    await page.goto(`${await readAddress()}/console/${path}`);
    return page;
  };
  /** Signs a person in once, because the service limits how often a password is tried. */
  const readState = async (person: Credentials): Promise<StorageState> => {
    const page = await open("");
    await signInByKeyboard(page, person);
    const state = await page.context().storageState();
    await page.context().close();
    states.set(person.email, state);
    return state;
  };
  return {
    open,
    async openSignedIn(path = "", form = {}, person = owner) {
      return open(path, { ...form, storageState: states.get(person.email) ?? (await readState(person)) });
    },
  };
}

/** Signs in at the page that asks for it, without a pointer. */
export async function signInByKeyboard(page: Page, { email, password }: Credentials = owner): Promise<void> {
  await focusByTab(page, page.getByLabel("E-mail address"));
  await page.keyboard.type(email);
  await focusByTab(page, page.getByLabel("Password"));
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Inbox" }).waitFor({ state: "attached" });
}

/** The messages of the open conversation. */
export const logOf = (page: Page): Locator => page.getByRole("log");

/** The row of a conversation in the list. */
export const rowOf = (page: Page, conversation: string): Locator =>
  page.locator(`[data-conversation="${conversation}"]`);

/** The texts of the messages that the conversation shows, oldest first; not those that wait to be sent. */
export async function readLog(page: Page): Promise<string[]> {
  return logOf(page).locator("[data-message] .text").allTextContents();
}

/** Writes a reply with the keyboard, all letters at once, and sends it. */
export async function reply(page: Page, text: string): Promise<void> {
  await page.keyboard.press("r");
  await page.keyboard.insertText(text);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
}
