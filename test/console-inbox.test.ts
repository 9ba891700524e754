/** The console's inbox in a browser, in front of a service that runs as a process of its own. */
import { expect, test } from "vitest";
import { ownerEmail, ownerPassword } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import {
  consoleFolder,
  logOf as log,
  rowOf,
  signInByKeyboard,
  useConsolePages,
} from "./support/console-pages.ts";
import { createStoryService } from "./support/console-service.ts";
import { readPageSizes } from "./support/console-sizes.ts";
import { expectAccessible, pageWidths } from "./support/expect-accessible.ts";
import { hasFocus } from "./support/focus-by-tab.ts";
import { useService, waitUntil } from "./support/served-process.ts";

const serve = useService({ TIDINGS_OWNER_EMAIL: ownerEmail, TIDINGS_OWNER_PASSWORD: ownerPassword });
const readAddress = async () => (await serve()).address;
const { post, put, read, write, readPhone } = createStoryService(readAddress);

test("the first load of a page has at most 80 kB, and its own chunk at most 25 kB", async () => {
  const pages = await readPageSizes(consoleFolder);
  expect(pages.length).toBeGreaterThan(5);
  for (const { page, own, firstLoad } of pages) {
    expect(own, page).toBeLessThanOrEqual(25_000);
    expect(firstLoad, page).toBeLessThanOrEqual(80_000);
  }
});

describePages(() => {
  const { open, openSignedIn } = useConsolePages(readAddress);

  test("a customer writes, is answered with a quick reply by keyboard, and the ticks turn", async () => {
    const number = "+14155559001";
    await post("/v1/quick-replies", { short_code: "hours", content: "We are open from 9 to 5." });
    const page = await openSignedIn();
    await page.getByText("No conversations here.").or(page.locator("[data-conversation]").first()).waitFor();
    const id = await write(number, "When are you open?");
    const row = rowOf(page, id);
    await row.getByText("When are you open?").waitFor();
    await page.keyboard.press("j");
    await log(page).getByText("When are you open?").waitFor();
    await page.keyboard.press("r");
    await page.keyboard.type("/ho");
    await page.getByRole("option", { name: "/hours" }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await log(page).getByText("We are open from 9 to 5.").waitFor();
    await waitUntil(async () => (await readPhone(number)).length > 0);
    expect(await readPhone(number)).toEqual(["We are open from 9 to 5."]);
    await log(page).getByTitle("Delivered").waitFor();
    await post(`/simulator/phones/${encodeURIComponent(number)}/read`, {});
    await log(page).getByTitle("Read").waitFor();
    await row.locator(".badge").waitFor({ state: "detached" });
    await page.context().close();
  });

  test("markup and scripts of a customer are shown as text", async () => {
    const text = "<img src=x onerror=alert(1)><script>alert(2)</script><b>bold</b>";
    const id = await write("+14155559002", text);
    const page = await openSignedIn(`inbox/${id}`);
    await log(page).getByText(text, { exact: true }).waitFor();
    expect(await log(page).locator("img, script, b").count()).toBe(0);
    await page.context().close();
  });

  test("a message that is sent without a connection arrives once when it is back", async () => {
    const number = "+14155559003";
    const id = await write(number, "Hello?");
    const page = await openSignedIn(`inbox/${id}`);
    await log(page).getByText("Hello?").waitFor();
    await page.context().setOffline(true);
    await page.keyboard.press("r");
    await page.keyboard.type("We are back.");
    await page.keyboard.press("Enter");
    await log(page).getByText("No connection. It is sent when the connection is back.").waitFor();
    await page.context().setOffline(false);
    await log(page).locator("[data-message]").getByText("We are back.").waitFor();
    await waitUntil(async () => (await readPhone(number)).length > 0);
    expect(await readPhone(number)).toEqual(["We are back."]);
    expect(await log(page).getByText("We are back.").count()).toBe(1);
    await page.context().close();
  });

  test("a request whose answer was lost is repeated and sends one message, also after a reload", async () => {
    const number = "+14155559004";
    const id = await write(number, "Is it there?");
    const page = await openSignedIn(`inbox/${id}`);
    await log(page).getByText("Is it there?").waitFor();
    // The service gets the request, and its answer does not arrive.
    await page.route("**/v1/messages", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.keyboard.press("r");
    await page.keyboard.type("Yes.");
    await page.keyboard.press("Enter");
    await waitUntil(async () => (await readPhone(number)).length > 0);
    // A request whose answer is about to be lost comes to its end first.
    await page.unrouteAll({ behavior: "wait" });
    await page.reload();
    await log(page).locator("[data-message]").getByText("Yes.").waitFor();
    await log(page).locator(".pending").waitFor({ state: "detached" });
    expect(await readPhone(number)).toEqual(["Yes."]);
    await page.context().close();
  });

  test("a conversation is closed by a key and reopened by undoing it", async () => {
    const id = await write("+14155559005", "Thank you, that is all.");
    const page = await openSignedIn(`inbox/${id}`);
    const row = rowOf(page, id);
    await row.waitFor();
    await log(page).getByText("that is all").waitFor();
    let changes = 0;
    await page.route(`**/v1/conversations/${id}`, (route) => {
      changes += Number(route.request().postData()?.includes("status") ?? false);
      return route.continue();
    });
    // A key that is held down closes it once.
    for (let press = 0; press < 5; press += 1) {
      await page.keyboard.down("e");
    }
    await page.keyboard.up("e");
    await row.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await row.waitFor();
    expect(changes).toBe(2);
    await page.context().close();
  });

  test("on a narrow screen the focus goes with the conversation, and a text keeps its direction", async () => {
    const id = await write("+14155559008", "שלום! (12)");
    const page = await openSignedIn("", { width: 390 });
    const row = rowOf(page, id);
    await row.click();
    await log(page).getByText("שלום! (12)").waitFor();
    const directions =
      "[...document.querySelectorAll('.log .text')].map((text) => getComputedStyle(text).unicodeBidi)";
    expect(await page.evaluate(directions)).toEqual(["plaintext"]);
    await waitUntil(() => hasFocus(page.getByRole("heading", { name: "+14155559008" }).first()));
    await page.getByRole("button", { name: "Back to the list" }).click();
    await waitUntil(() => hasFocus(row));
    await page.context().close();
  });

  test("a snoozed conversation leaves the list of open ones", async () => {
    const id = await write("+14155559007", "Call me next week.");
    const page = await openSignedIn(`inbox/${id}`);
    const row = rowOf(page, id);
    await row.waitFor();
    await log(page).getByText("Call me next week.").waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "In one hour" }).click();
    await row.waitFor({ state: "detached" });
    await page.context().close();
  });

  test("the address of a conversation that is not there says so", async () => {
    const page = await openSignedIn("inbox/conv_nothing");
    await page.getByText("There is no such conversation.").waitFor();
    await page.context().close();
  });

  test("signing out ends the session in the browser", async () => {
    const page = await open("");
    await signInByKeyboard(page);
    await page.getByRole("button", { name: "Owner: you and your preferences" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("E-mail address").waitFor();
    await waitUntil(() => hasFocus(page.getByLabel("E-mail address")));
    expect(await page.title()).toBe("Sign in to Tidings");
    await page.reload();
    await page.getByLabel("E-mail address").waitFor();
    await page.context().close();
  });

  test("axe finds nothing on the pages and dialogs, and nothing is too wide", async () => {
    const id = await write("+14155559006", "Where is my order?");
    const { data: users } = await read("/v1/users");
    const mentions = users.map((user) => user.id);
    await post(`/v1/conversations/${id}/notes`, { text: "Look at this order.", mentions });
    const other = await write("+14155559009", "Hello?");
    await put("/simulator/faults", { failures: [{ code: 131026, share: 1 }] });
    await post("/v1/messages", { to: other, type: "text", text: { body: "We are here." } });
    await waitUntil(async () => JSON.stringify(await read("/v1/conversations")).includes('"failed"'));
    await put("/simulator/faults", {});
    for (const width of pageWidths) {
      const page = await openSignedIn(`inbox/${id}`, { width });
      await log(page).getByText("Where is my order?").waitFor();
      await expectAccessible(page, "conversation");
      await page.getByRole("button", { name: "Send template" }).click();
      await page.getByRole("dialog").waitFor();
      await expectAccessible(page, "templates");
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
      await expectAccessible(page, "shortcuts");
      await page.keyboard.press("Escape");
      await page.setInputFiles("input[type=file]", {
        name: "order.png",
        mimeType: "image/png",
        buffer: Buffer.from("no image"),
      });
      await page.locator(".tray").waitFor();
      await page.getByRole("button", { name: "Close", exact: true }).click();
      await page.getByText("Conversation closed.").waitFor();
      await expectAccessible(page, "toast and files");
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByRole("button", { name: "Close", exact: true }).waitFor();
      await page.goto(`${(await serve()).address}/console/?search=order`);
      await page.locator(".found").first().click();
      await log(page).locator(".wanted").waitFor();
      await expectAccessible(page, "result of a search");
      await page.goto(`${(await serve()).address}/console/`);
      await page.locator("[data-conversation]").first().waitFor();
      await expectAccessible(page, "list");
      await page.context().close();
    }
  });
});
