/** What colleagues see of each other in the console, and what the tabs of one browser do only once. */
import { expect, test } from "vitest";
import { ownerEmail, ownerPassword } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { logOf, rowOf, useConsolePages } from "./support/console-pages.ts";
import { createStoryService } from "./support/console-service.ts";
import { useService, waitUntil } from "./support/served-process.ts";

const serve = useService({ TIDINGS_OWNER_EMAIL: ownerEmail, TIDINGS_OWNER_PASSWORD: ownerPassword });
const readAddress = async () => (await serve()).address;
const { post, write } = createStoryService(readAddress);

describePages(() => {
  const { openSignedIn } = useConsolePages(readAddress);

  test("colleagues see who has a conversation open and who writes, and are told of mentions", async () => {
    const noor = { email: "noor@example.com", password: "a long enough password" };
    const { data: signedIn } = await post("/v1/auth/login", { email: ownerEmail, password: ownerPassword });
    const authorization = `Bearer ${signedIn.access_token}`;
    await post("/v1/users", { ...noor, name: "Noor Haddad", role: "agent" }, { authorization });
    const theirs = await openSignedIn("", {}, noor);
    const id = await write("+14155559301", "Is my parcel on its way?");
    await rowOf(theirs, id).waitFor();
    const mine = await openSignedIn(`inbox/${id}`);
    await logOf(mine).getByText("Is my parcel on its way?").waitFor();

    // The owner has read it; for Noor it stays unread until she opens it.
    await rowOf(mine, id).locator("xpath=ancestor::li[not(contains(@class, 'unread'))]").waitFor();
    await theirs.goto(`${await readAddress()}/console/?view=unread`);
    await rowOf(theirs, id).click();
    await mine.getByText("Noor Haddad has this conversation open.").waitFor();
    await theirs.keyboard.press("r");
    await theirs.keyboard.type("I");
    await mine.getByText("Noor Haddad is writing.").waitFor();

    await theirs.goto(`${await readAddress()}/console/?view=mentions`);
    await theirs.getByText("No conversations here.").waitFor();
    await mine.getByText("Noor Haddad is writing.").waitFor({ state: "detached" });
    await mine.keyboard.press("n");
    await mine.keyboard.type("Please call the courier, @noo");
    await mine.getByRole("option", { name: "Noor Haddad" }).waitFor();
    await mine.keyboard.press("Enter");
    await mine.keyboard.press("Enter");
    await logOf(mine).getByText("for Noor Haddad").waitFor();
    await rowOf(theirs, id).waitFor();
    await theirs.getByRole("link", { name: "mentioned you in a note." }).click();
    await logOf(theirs).getByText("Please call the courier, @Noor Haddad").waitFor();
    await Promise.all([mine.context().close(), theirs.context().close()]);
  });

  test("the page reads its list and the conversation once at its start, also in a second tab", async () => {
    const id = await write("+14155559302", "Good morning.");
    const other = await write("+14155559304", "Good evening.");
    const page = await openSignedIn();
    await rowOf(page, id).waitFor();
    const reads: string[] = [];
    page.context().on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (searchParams.get("per_page") === "30" || pathname.endsWith("/context")) {
        reads.push(pathname);
      }
    });
    /** Opens the conversation; returns what was read for it, and after the note about another one. */
    const open = async (tab: typeof page, text: string) => {
      reads.length = 0;
      await tab.goto(`${await readAddress()}/console/inbox/${id}`);
      await logOf(tab).getByText("Good morning.").waitFor();
      await rowOf(tab, other).waitFor();
      const atStart = reads.splice(0).toSorted();
      await post(`/v1/conversations/${other}/notes`, { text });
      await rowOf(tab, other).getByText(text).waitFor();
      return [atStart, new Set(reads)];
    };
    const list = "/v1/conversations";
    const expected = [[list, `/v1/conversations/${id}/context`], new Set([list])];
    let count = 0;
    /** Not at once: the first time marks it as read, and a page reads again if its stream opens late. */
    const expectOneRead = (tab: typeof page) =>
      expect.poll(() => open(tab, `Note ${++count}.`), { timeout: 60_000 }).toEqual(expected);
    await expectOneRead(page);
    await page.goto("about:blank");
    await expectOneRead(await page.context().newPage());
    await page.context().close();
  });

  test("of several tabs that were used one plays the sound", async () => {
    const page = await openSignedIn();
    const context = page.context();
    await context.addInitScript(`
      localStorage.setItem("tidings.preferences", '{"hasSound":true}');
      window.sounds = 0;
      const node = { gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} }, frequency: {} };
      Object.assign(node, { connect: () => node, start: () => (window.sounds += 1), stop() {} });
      window.AudioContext = class { createOscillator() { return node; } createGain() { return node; } };
    `);
    await page.reload();
    const tabs = [page, await context.newPage(), await context.newPage()];
    for (const tab of tabs.slice(1)) {
      await tab.goto(page.url());
    }
    for (const tab of tabs) {
      await tab.locator("[data-conversation]").first().waitFor();
      await tab.keyboard.press("j");
    }
    const id = await write("+14155559303", "Is anybody there?");
    for (const tab of tabs) {
      await rowOf(tab, id).getByText("Is anybody there?").waitFor();
    }
    const counts = () => Promise.all(tabs.map((tab) => tab.evaluate("window.sounds") as Promise<number>));
    await waitUntil(async () => (await counts()).some((sounds) => sounds > 0));
    expect((await counts()).toSorted()).toEqual([0, 0, 1]);
    await context.close();
  });
});
