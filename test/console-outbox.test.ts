/** Messages that the console sends without storage, or after a long time without a connection. */
import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { useTestApp } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { consoleFolder, logOf, readLog, reply, useConsolePages } from "./support/console-pages.ts";
import { waitUntil } from "./support/served-process.ts";
import { openPhone } from "./support/simulator.ts";

/** The storage of the browser takes nothing. */
const full = `
  Storage.prototype.setItem = () => {
    throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
  };
`;
/** The person has forbidden the site to store anything. */
const blocked = `
  Object.defineProperty(window, "localStorage", {
    get() {
      throw new DOMException("Access is denied.", "SecurityError");
    },
  });
`;
const noConnection = "No connection. It is sent when the connection is back.";

describePages(() => {
  const app = useTestApp({ consoleFolder });
  const { openSignedIn } = useConsolePages(() => app.address);

  const openConversation = async (number: string, script = "") => {
    const { conversation_id } = await openPhone(app, number).write("Hello?");
    const page = await openSignedIn("activity");
    await page.addInitScript(script);
    await page.goto(`${app.address}/console/inbox/${conversation_id}`);
    await logOf(page).getByText("Hello?").waitFor();
    return page;
  };
  const readPhone = async (number: string) => {
    await app.runDueJobs();
    const all = await openPhone(app, number).listMessages();
    return all.filter(({ direction }) => direction === "outbound").map(({ text }) => text?.body);
  };

  test.each([
    ["full", full, "+14155559420"],
    ["blocked", blocked, "+14155559421"],
  ])("with a %s storage, messages are sent in their order", async (_, script, number) => {
    const page = await openConversation(number, script);
    await reply(page, "The first.");
    await reply(page, "The second.");
    await logOf(page).locator("[data-message]").getByText("The second.").waitFor();
    expect(await readLog(page)).toEqual(["Hello?", "The first.", "The second."]);
    expect(await readPhone(number)).toEqual(["The first.", "The second."]);
    await page.context().close();
  });

  test("with a full storage, a message that waits stays while another page is open", async () => {
    const number = "+14155559422";
    const page = await openConversation(number, full);
    await page.route("**/v1/messages", (route) => route.abort());
    await reply(page, "Not forgotten.");
    await logOf(page).getByText(noConnection).waitFor();
    await page.getByRole("link", { name: "Activity" }).click();
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    await page.goBack();
    await logOf(page).getByText(noConnection).waitFor();
    await page.unroute("**/v1/messages");
    await logOf(page).locator("[data-message]").getByText("Not forgotten.").waitFor();
    expect(await readPhone(number)).toEqual(["Not forgotten."]);
    await page.context().close();
  });

  test("an open page does not repeat a message that was not confirmed for 12 hours", async () => {
    const number = "+14155559423";
    const page = await openConversation(number);
    await page.route("**/v1/messages", (route) => route.abort());
    await reply(page, "Still there?");
    await logOf(page).getByText(noConnection).waitFor();
    await page.clock.setSystemTime(Date.now() + 12 * 3_600_000);
    await page.unroute("**/v1/messages");
    await logOf(page)
      .getByText(/^It was not confirmed for 12 hours/)
      .or(logOf(page).locator("[data-message]").getByText("Still there?"))
      .waitFor();
    expect(await readLog(page)).toEqual(["Hello?"]);
    expect(await readPhone(number)).toEqual([]);
    await logOf(page).getByRole("button", { name: "Try again" }).click();
    await logOf(page).locator("[data-message]").getByText("Still there?").waitFor();
    expect(await readPhone(number)).toEqual(["Still there?"]);
    await page.context().close();
  });

  test("a reply that is rejected after one has left the conversation is told, with a link to it", async () => {
    const page = await openConversation("+14155559424");
    const address = page.url();
    const held: Route[] = [];
    await page.route("**/v1/messages", (route) => held.push(route));
    await reply(page, "On its way.");
    await waitUntil(async () => held.length > 0);
    await page.getByRole("link", { name: "Activity" }).click();
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    await held[0]?.fulfill({ status: 422, json: { error: { code: "insufficient_funds" } } });
    const toasts = page.locator(".toasts");
    await toasts
      .getByRole("link", { name: /^A message was not sent. The wallet has too little money/ })
      .click();
    await logOf(page).getByText("The wallet has too little money").waitFor();
    expect(page.url()).toBe(address);

    // What is rejected while the conversation is open is said there alone.
    await logOf(page).getByRole("button", { name: "Try again" }).click();
    await waitUntil(async () => held.length > 1);
    await held[1]?.fulfill({ status: 422, json: { error: { code: "contact_blocked" } } });
    await logOf(page).getByText("The contact is blocked").waitFor();
    expect(await toasts.textContent()).toBe("");
    await page.context().close();
  });
});
