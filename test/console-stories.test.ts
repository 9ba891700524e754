/** Stories of the console in a browser: several people and tabs, other organizations, voice notes. */
import type { BrowserContext, Page, Request, Route } from "playwright-core";
import { expect, test } from "vitest";
import { operatorKey, ownerEmail, ownerPassword } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { logOf, readLog, reply, rowOf, useConsolePages } from "./support/console-pages.ts";
import { createStoryService } from "./support/console-service.ts";
import { useService, waitUntil } from "./support/served-process.ts";
import { createTone } from "./support/tone.ts";

const serve = useService({
  TIDINGS_OWNER_EMAIL: ownerEmail,
  TIDINGS_OWNER_PASSWORD: ownerPassword,
  TIDINGS_OPERATOR_KEY: operatorKey,
});
const readAddress = async () => (await serve()).address;
const { post, write, readPhone } = createStoryService(readAddress);

describePages(() => {
  const { openSignedIn } = useConsolePages(readAddress);

  test("a page or a section whose script can't be loaded says so, and a reload shows it", async () => {
    const page = await openSignedIn();
    const pages = [
      { script: "**/activity-page-*.js", link: "Activity", shows: "Activity" },
      { script: "**/settings-keys-*.js", link: "API keys", shows: "API keys" },
    ];
    for (const { script, link, shows } of pages) {
      await page.route(script, (route) => route.abort());
      await page.getByRole("link", { name: link }).click();
      await page.getByRole("alert").getByText("This page could not be loaded.").waitFor();
      await page.unroute(script);
      await page.getByRole("button", { name: "Reload" }).click();
      await page.getByRole("heading", { name: shows, exact: true }).waitFor();
      await page.getByRole("link", { name: "Settings" }).click();
    }
    await page.context().close();
  });

  test("what the settings could not read is read by the button beside the error", async () => {
    const page = await openSignedIn("activity");
    for (const [section, request] of Object.entries({
      people: "users",
      teams: "teams",
      inboxes: "inboxes",
    })) {
      await page.route(`**/v1/${request}*`, (route) => route.abort());
      await page.goto(`${await readAddress()}/console/settings/${section}`);
      const problem = page.getByRole("alert").getByText("The service can't be reached.");
      await problem.waitFor();
      await page.unroute(`**/v1/${request}*`);
      await page.getByRole("button", { name: "Try again" }).click();
      await problem.waitFor({ state: "detached" });
    }
    await page.context().close();
  });

  test("two people on one conversation see each other's replies and the assignment, each once", async () => {
    const number = "+14155559101";
    const agent = { email: "agent@example.com", password: "a long enough password" };
    const { data: signedIn } = await post("/v1/auth/login", { email: ownerEmail, password: ownerPassword });
    const authorization = `Bearer ${signedIn.access_token}`;
    await post("/v1/users", { ...agent, name: "Noor Haddad", role: "agent" }, { authorization });
    const id = await write(number, "Which sizes do you have?");
    const mine = await openSignedIn(`inbox/${id}`);
    const theirs = await openSignedIn(`inbox/${id}`, {}, agent);
    for (const page of [mine, theirs]) {
      await logOf(page).getByText("Which sizes do you have?").waitFor();
    }

    await mine.keyboard.press("a");
    await mine.getByRole("button", { name: "Noor Haddad", exact: true }).waitFor();
    await mine.keyboard.press("ArrowDown");
    await mine.keyboard.press("Enter");
    for (const page of [mine, theirs]) {
      const facts = page.getByRole("region", { name: "Assignment" });
      await facts.getByText("Noor Haddad").waitFor();
      await facts.getByText("Owner").waitFor();
    }

    const texts = { mine: ["Small.", "Medium.", "Large."], theirs: ["38.", "40.", "42."] };
    const replyAll = async (page: Page, replies: readonly string[]) => {
      for (const text of replies) {
        await reply(page, text);
      }
    };
    await Promise.all([replyAll(mine, texts.mine), replyAll(theirs, texts.theirs)]);
    const all = [...texts.mine, ...texts.theirs];
    await waitUntil(async () => (await readPhone(number)).length >= all.length);
    for (const page of [mine, theirs]) {
      await waitUntil(async () => (await readLog(page)).length > all.length);
      await logOf(page).locator(".pending").first().waitFor({ state: "detached" });
    }
    const sent = await readPhone(number);
    expect(sent.toSorted()).toEqual(all.toSorted());
    expect(sent.filter((text) => texts.mine.includes(text ?? ""))).toEqual(texts.mine);
    expect(sent.filter((text) => texts.theirs.includes(text ?? ""))).toEqual(texts.theirs);
    expect(await readLog(mine)).toEqual(await readLog(theirs));
    expect((await readLog(mine)).toSorted()).toEqual(["Which sizes do you have?", ...all].toSorted());
    await logOf(mine).getByText("Noor Haddad").first().waitFor();
    await Promise.all([mine.context().close(), theirs.context().close()]);
  });

  test("ids of another organization in the address show that there is nothing, and no data", async () => {
    const created = await post(
      "/operator/v1/organizations",
      { name: "Other", owner: { email: "other@example.org", name: "Other" } },
      { "x-api-key": operatorKey },
    );
    const key = { "x-api-key": created.data.api_key.secret_key };
    const { data: message } = await post(
      "/simulator/inbound",
      { from: "+14155559102", name: "Private Person", text: "A private question" },
      key,
    );
    const team = await post("/v1/teams", { name: "Private Team" }, key);
    const list = await fetch(`${await readAddress()}/v1/contacts`, { headers: key });
    const { data: contacts } = (await list.json()) as { data: { id: string }[] };
    const addresses = [
      [`inbox/${message.conversation_id}`, "There is no such conversation."],
      [`inbox/${contacts[0]?.id}`, "There is no such conversation."],
      [`contacts/${contacts[0]?.id}`, "There is no such page."],
      [`?team_id=${team.data.id}`, "No conversations here."],
    ] as const;
    for (const [address, sentence] of addresses) {
      const page = await openSignedIn(address);
      await page.getByText(sentence).waitFor();
      const text = await page.locator("body").innerText();
      expect(text).not.toMatch(/Private|4155559102/);
      await page.context().close();
    }
  });

  test("a voice note is played in the conversation", async () => {
    const file = { content_base64: createTone().toString("base64"), file_name: "voice.wav" };
    const { data: upload } = await post("/v1/uploads", file);
    const media = { type: "audio", url: upload.storage_url };
    const { data } = await post("/simulator/inbound", { from: "+14155559103", media });
    const page = await openSignedIn(`inbox/${data.conversation_id}`);
    const audio = logOf(page).locator("audio");
    await audio.waitFor();
    expect(new URL((await audio.getAttribute("src")) ?? "", page.url()).pathname).toBe(
      new URL(upload.storage_url).pathname,
    );
    const read = () =>
      audio.evaluate((element) => {
        const { readyState, duration, currentTime, error } = element as unknown as Player;
        return { isReady: readyState > 0, duration, currentTime, error: error?.message };
      });
    await waitUntil(async () => (await read()).isReady);
    expect(await read()).toEqual({ isReady: true, duration: 0.5, currentTime: 0, error: undefined });
    await audio.focus();
    await page.keyboard.press("Space");
    await waitUntil(async () => (await read()).currentTime > 0);
    await page.context().close();
  });

  test("a reader of older messages stays where they are until the person writes", async () => {
    const number = "+14155559106";
    let id = "";
    const questions = Array.from({ length: 130 }, (_, index) => `Question ${index + 1}.`);
    for (const question of questions) {
      id = await write(number, question);
    }
    const page = await openSignedIn(`inbox/${id}`);
    await logOf(page).getByText("Question 130.").waitFor();
    const scrollToTop = () =>
      logOf(page).evaluate((log) => {
        log.scrollTop = 0;
      });
    const placeOf = async (text: string) =>
      Math.round((await logOf(page).getByText(text, { exact: true }).boundingBox())?.y ?? Number.NaN);
    expect((await readLog(page)).length).toBe(50);

    // The page begins with question 81, and continues with the 50 before it.
    await scrollToTop();
    await logOf(page).getByText("Question 31.").waitFor({ state: "attached" });
    expect((await readLog(page)).length).toBe(100);
    const place = await placeOf("Question 81.");
    expect(place).toBeGreaterThan(0);
    expect(place).toBeLessThan(400);

    await write(number, "One more.");
    await page.getByRole("button", { name: "Show the latest messages" }).waitFor();
    expect(await placeOf("Question 81.")).toBe(place);
    await scrollToTop();
    await logOf(page).getByText("The conversation begins here.").waitFor();
    expect(await readLog(page)).toEqual(questions);

    await reply(page, "I am reading.");
    await logOf(page).locator("[data-message]").getByText("I am reading.").waitFor();
    expect((await readLog(page)).slice(-2)).toEqual(["One more.", "I am reading."]);
    await waitUntil(async () => (await placeOf("I am reading.")) < 800);
    await page.context().close();
  });

  test("eight tabs of a browser have one stream, which another tab continues when its tab is closed", async () => {
    const page = await openSignedIn();
    const streams = countStreams(page.context());
    await page.reload();
    await waitUntil(async () => streams.open().length === 1);
    const tabs = [page];
    while (tabs.length < 8) {
      const tab = await page.context().newPage();
      await tab.goto(page.url());
      tabs.push(tab);
    }
    for (const tab of tabs) {
      await tab.locator("[data-conversation]").first().waitFor();
    }
    const first = await write("+14155559104", "Is anybody there?");
    for (const tab of tabs) {
      await rowOf(tab, first).getByText("Is anybody there?").waitFor();
    }
    expect(streams.open()).toEqual([page]);

    await page.close();
    const second = await write("+14155559105", "And now?");
    const others = tabs.slice(1);
    for (const tab of others) {
      await rowOf(tab, second).getByText("And now?").waitFor();
    }
    expect(streams.open().length).toBe(1);
    expect(others).toContain(streams.open()[0]);
    await tabs[1]?.context().close();
  });

  test("a list and a conversation that can't be read for now are read again", async () => {
    const id = await write("+14155559108", "Hello again.");
    const page = await openSignedIn();
    // More often than the page reads at its start and when its stream opens.
    const refuseThrice = () => {
      let count = 0;
      return (route: Route) => {
        count += 1;
        return count <= 3 ? route.fulfill({ status: 503, body: "{}" }) : route.continue();
      };
    };
    await page.route(/\/v1\/conversations\?.*per_page=30/, refuseThrice());
    await page.route(`**/v1/conversations/${id}/context*`, refuseThrice());
    await page.goto(`${await readAddress()}/console/inbox/${id}`);
    await rowOf(page, id).waitFor();
    await logOf(page).getByText("Hello again.").waitFor();
    await page.context().close();
  });

  test("a tab that nobody sees counts new messages in its title, and reads the list when it is shown", async () => {
    const page = await openSignedIn();
    await page.locator("[data-conversation]").first().waitFor();
    const setHidden = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));`);
    await setHidden(true);
    const title = await page.title();
    const id = await write("+14155559107", "Do you see me?");
    await waitUntil(async () => (await page.title()) !== title);
    expect(await rowOf(page, id).count()).toBe(0);
    await setHidden(false);
    await rowOf(page, id).getByText("Do you see me?").waitFor();
    await page.context().close();
  });
});

/** The members of an audio element that the story reads. */
interface Player {
  readonly readyState: number;
  readonly duration: number;
  readonly currentTime: number;
  readonly error: { readonly message: string } | null;
}

/** The tabs with a running request for the stream of events. */
function countStreams(context: BrowserContext) {
  const running = new Map<Request, Page>();
  context.on("request", (request) => {
    if (new URL(request.url()).pathname === "/v1/events/stream") {
      running.set(request, request.frame().page());
    }
  });
  const end = (request: Request) => void running.delete(request);
  context.on("requestfailed", end);
  context.on("requestfinished", end);
  return { open: () => [...running.values()].filter((page) => !page.isClosed()) };
}
