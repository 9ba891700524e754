/** What is written and chosen in the reply box of the console while the service answers. */
import type { Route } from "playwright-core";
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
    await page.unroute("**/notes");
    await page.keyboard.press("Enter");
    const field = page.getByRole("textbox", { name: /internal note/ });
    await waitUntil(async () => (await field.inputValue()) === "");
    const { data } = await app.call(notes.list_notes, { conversation_id });
    expect(data.map(({ text }) => text)).toEqual(["Call back"]);
    await page.context().close();
  });

  /** A template as the list has it. */
  const _listed = (name: string, is_sendable: boolean) => ({
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
  const _queryOf = (route: Route) => new URL(route.request().url()).searchParams;
});
