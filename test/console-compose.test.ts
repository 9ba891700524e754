/** What is written and chosen in the reply box of the console while the service answers. */
import type { Request, Route } from "playwright-core";
import { expect, test } from "vitest";
import { notes } from "../tools/notes.ts";
import { useTestApp } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { consoleFolder, logOf, useConsolePages } from "./support/console-pages.ts";
import { waitUntil } from "./support/served-process.ts";
import { openPhone } from "./support/simulator.ts";

describePages(() => {
  const app = useTestApp({ consoleFolder });
  const { openSignedIn } = useConsolePages(() => app.address);

  const openConversation = async (number: string) => {
    const { conversation_id } = await openPhone(app, number).write("Hello?");
    const page = await openSignedIn(`inbox/${conversation_id}`);
    await logOf(page).getByText("Hello?").waitFor();
    return { page, conversation_id };
  };

  test("a note is added once if Enter is pressed twice, and what is typed meanwhile stays", async () => {
    const { page, conversation_id } = await openConversation("+14155559440");
    const held: Route[] = [];
    await page.route("**/notes", (route) => held.push(route));
    await page.keyboard.press("n");
    await page.keyboard.type("Ask the warehouse");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.keyboard.type(" tomorrow");
    await waitUntil(async () => held.length > 0);
    const field = page.getByRole("textbox", { name: /internal note/ });
    expect(await field.inputValue()).toBe("Ask the warehouse tomorrow");
    expect(held.length).toBe(1);
    await held[0]?.continue();
    await logOf(page).getByText("Ask the warehouse", { exact: true }).waitFor();
    expect(await field.inputValue()).toBe("Ask the warehouse tomorrow");
    const { data } = await app.call(notes.list_notes, { conversation_id });
    expect(data.map(({ text }) => text)).toEqual(["Ask the warehouse"]);
    await page.context().close();
  });

  test("a note whose answer was lost is added once, also if it is sent again", async () => {
    const { page, conversation_id } = await openConversation("+14155559441");
    await page.route("**/notes", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.keyboard.press("n");
    await page.keyboard.type("Call back");
    await page.keyboard.press("Enter");
    await page.locator(".toasts").getByText("The service can't be reached.").waitFor();
    // A request whose answer is about to be lost comes to its end first.
    await page.unrouteAll({ behavior: "wait" });
    await page.keyboard.press("Enter");
    const field = page.getByRole("textbox", { name: /internal note/ });
    await waitUntil(async () => (await field.inputValue()) === "");
    const { data } = await app.call(notes.list_notes, { conversation_id });
    expect(data.map(({ text }) => text)).toEqual(["Call back"]);
    await page.context().close();
  });

  /** A template as the list has it. */
  const listed = (name: string, is_sendable: boolean) => ({
    id: `tpl_${name}`,
    name,
    channel: "whatsapp",
    category: "utility",
    language: "en",
    inbox_id: "inb_1",
    status: is_sendable ? "approved" : "draft",
    is_sendable,
    quality_rating: null,
    rejection_reason: null,
    created_at: "2026-01-01T00:00:00.000Z",
    updated_at: "2026-01-01T00:00:00.000Z",
  });
  const queryOf = (route: Route) => new URL(route.request().url()).searchParams;

  test("an approved template is offered though many newer ones are not", async () => {
    const { page } = await openConversation("+14155559442");
    const all = [
      ...Array.from({ length: 120 }, (_, index) => listed(`draft_${index}`, false)),
      listed("opening_hours", true),
    ];
    await page.route("**/v1/templates?*", async (route) => {
      const query = queryOf(route);
      const [page, per_page] = [Number(query.get("page") ?? 1), Number(query.get("per_page"))];
      const data = all.slice((page - 1) * per_page, page * per_page);
      await route.fulfill({ json: { data, meta: { total: all.length, page, per_page } } });
    });
    await page.getByRole("button", { name: "Template" }).click();
    await page.getByRole("dialog").getByText("opening_hours").waitFor();
    await page.context().close();
  });

  test("another search for templates ends the one before, and its error", async () => {
    const { page } = await openConversation("+14155559443");
    await page.route("**/v1/templates?*", async (route) => {
      const search = queryOf(route).get("search") ?? "all";
      if (search === "fail") {
        await route.abort();
      } else if (search !== "held") {
        const data = [listed(`found_${search}`, true)];
        await route.fulfill({ json: { data, meta: { total: 1, page: 1, per_page: 100 } } });
      }
    });
    await page.getByRole("button", { name: "Template" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("found_all").waitFor();
    const search = dialog.getByRole("searchbox");
    await search.fill("fail");
    await dialog.getByRole("alert").getByText("The service can't be reached.").waitFor();
    const isHeld = (request: Request) => request.url().includes("search=held");
    await Promise.all([page.waitForRequest(isHeld), search.fill("held")]);
    await Promise.all([page.waitForEvent("requestfailed", isHeld), search.fill("last")]);
    await dialog.getByText("found_last").waitFor();
    expect(await dialog.getByRole("alert").textContent()).toBe("");
    await page.context().close();
  });
});
