/** What is written and chosen in the reply box of the console while the service answers. */
import type { Page, Request, Route } from "playwright-core";
import { expect, test } from "vitest";
import { messages } from "../tools/messages/index.ts";
import { notes } from "../tools/notes.ts";
import { quickReplies } from "../tools/quick-replies.ts";
import { useTestApp } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { consoleFolder, logOf, useConsolePages } from "./support/console-pages.ts";
import { png } from "./support/files.ts";
import { hasFocus } from "./support/focus-by-tab.ts";
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

  const replyOf = (page: Page) => page.getByRole("textbox", { name: /Write a reply/ });

  test("the list of quick replies is there while the caret is after its sign alone", async () => {
    const hours = { short_code: "hours", content: "We are open from 9 to 5." };
    await app.call(quickReplies.create_quick_reply, hours);
    const { page } = await openConversation("+14155559444");
    const field = replyOf(page);
    const offer = page.getByRole("option", { name: "/hours" });
    await field.fill("Thanks for asking ");
    await field.pressSequentially("/ho");
    await offer.waitFor();
    await field.press("Home");
    await offer.waitFor({ state: "detached" });
    await field.press("End");
    await offer.waitFor();
    await field.press("Escape");
    await offer.waitFor({ state: "detached" });
    await field.press("u");
    await offer.waitFor();
    await page.getByRole("button", { name: "Attach files" }).focus();
    await offer.waitFor({ state: "detached" });

    // The next key comes before the page learns of the caret.
    await field.press("r");
    await offer.waitFor();
    await page.keyboard.down("Home");
    await page.keyboard.press("Enter");
    expect(await field.inputValue()).toBe("Thanks for asking /hour");
    await page.keyboard.up("Home");
    await field.press("End");
    await field.press("Enter");
    expect(await field.inputValue()).toBe("Thanks for asking We are open from 9 to 5.");
    await page.context().close();
  });

  const picture = { name: "order.png", mimeType: "image/png", buffer: png };
  const trayOf = (page: Page) => page.locator(".tray li");

  test("nothing is cut off: a text too long is not sent, is no caption, and can be edited", async () => {
    const { page } = await openConversation("+14155559445");
    const sent: object[] = [];
    await page.route("**/v1/messages", (route) => {
      sent.push(route.request().postDataJSON());
      return route.fulfill({ status: 422, json: { error: { code: "insufficient_funds" } } });
    });
    const field = replyOf(page);
    await field.fill("x".repeat(4_098));
    await page.getByText("A text has at most 4,096 characters. Remove 2 characters.").waitFor();
    await field.press("Enter");
    expect(await page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
    expect((await field.inputValue()).length).toBe(4_098);

    const long = "y".repeat(1_025);
    await field.fill(long);
    await page.setInputFiles("input[type=file]", picture);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    const failed = page.locator(".pending.failed");
    await failed.nth(1).waitFor();
    expect(sent).toMatchObject([{ type: "image", file_name: "order.png" }, { text: { body: long } }]);
    expect(sent[0]).not.toHaveProperty("caption");

    await field.fill("And one more thing.");
    await page.getByRole("button", { name: "Note" }).click();
    await failed.nth(1).getByRole("button", { name: "Edit" }).click();
    await failed.nth(1).waitFor({ state: "detached" });
    expect(await field.inputValue()).toBe(`${long}\nAnd one more thing.`);
    await waitUntil(() => hasFocus(field));
    await failed.getByRole("button", { name: "Edit" }).click();
    await failed.waitFor({ state: "detached" });
    await field.fill("Here it is.");
    await field.press("Enter");
    await failed.waitFor();
    expect(sent[2]).toMatchObject({ type: "image", file_name: "order.png", caption: "Here it is." });
    await page.context().close();
  });

  /** Pastes or drops a file, and perhaps a text. @returns whether the page took it from the browser */
  const transfer = (page: Page, kind: "paste" | "drop", selector: string, types: object = {}) =>
    page.evaluate<boolean>(`(() => {
      const data = new DataTransfer();
      data.items.add(new File(["%PDF-1.4"], "order.pdf", { type: "application/pdf" }));
      for (const [type, text] of Object.entries(${JSON.stringify(types)})) {
        data.setData(type, text);
      }
      const options = { bubbles: true, cancelable: true };
      const event = ${JSON.stringify(kind)} === "paste"
        ? new ClipboardEvent("paste", { ...options, clipboardData: data })
        : new DragEvent("drop", { ...options, dataTransfer: data });
      return !document.querySelector(${JSON.stringify(selector)}).dispatchEvent(event);
    })()`);

  test("files are taken wherever they are dropped, stay during a note, and outlast the access token", async () => {
    const { page } = await openConversation("+14155559446");
    let uploads = 0;
    await page.route("**/v1/uploads", (route) => {
      uploads += 1;
      const ended = { status: 401, json: { error: { code: "invalid_credential" } } };
      return uploads === 1 ? route.fulfill(ended) : route.continue();
    });
    expect(await transfer(page, "drop", ".log")).toBe(true);
    await trayOf(page).getByText("order.pdf").waitFor();
    await waitUntil(() => page.getByRole("button", { name: "Send", exact: true }).isEnabled());
    expect(uploads).toBe(2);
    await page.getByRole("button", { name: "Note" }).click();
    await page.getByRole("textbox", { name: /internal note/ }).waitFor();
    // A note has no files: the browser pastes what it can.
    expect(await transfer(page, "paste", ".composer textarea")).toBe(false);
    await page.getByRole("button", { name: "Reply", exact: true }).click();
    expect(await trayOf(page).allTextContents()).toEqual(["order.pdf"]);

    // A table program copies cells as a text and as a picture, and a file manager a file with its name.
    const cells = { "text/plain": "1\t2", "text/rtf": "{\\rtf1 1\\tab 2}" };
    expect(await transfer(page, "paste", ".composer textarea", cells)).toBe(false);
    const name = { "text/plain": "order.pdf" };
    expect(await transfer(page, "paste", ".composer textarea", name)).toBe(true);
    expect(await trayOf(page).count()).toBe(2);

    // A long text leaves the button in a low window.
    await page.setViewportSize({ width: 640, height: 400 });
    await replyOf(page).fill("A line\n".repeat(12));
    const box = await page.getByRole("button", { name: "Send", exact: true }).boundingBox();
    expect((box?.y ?? 400) + (box?.height ?? 0)).toBeLessThanOrEqual(400);
    await page.context().close();
  });

  test("two tabs share the draft of a conversation, and neither sends what the other has sent", async () => {
    const { page, conversation_id } = await openConversation("+14155559447");
    await replyOf(page).fill("The parcel");
    const other = await page.context().newPage();
    await other.goto(`${app.address}/console/inbox/${conversation_id}`);
    await replyOf(other).waitFor();
    expect(await replyOf(other).inputValue()).toBe("The parcel");
    await replyOf(other).fill("The parcel is on its way.");
    await waitUntil(async () => (await replyOf(page).inputValue()) === "The parcel is on its way.");
    await replyOf(page).press("Enter");
    await waitUntil(async () => (await replyOf(other).inputValue()) === "");
    await replyOf(other).press("Enter");
    await logOf(other).locator("[data-message]").getByText("The parcel is on its way.").waitFor();
    const { data } = await app.call(messages.list_messages, { conversation_id });
    expect(data.map(({ text }) => text?.body)).toEqual(["The parcel is on its way.", "Hello?"]);
    await page.context().close();
  });

  test("what could not be saved of a contact is not shown as if it were", async () => {
    const { page } = await openConversation("+14155559448");
    await page.route("**/v1/contacts/*", (route) => route.abort());
    const names = ["Blocked: gets no messages at all", "Wants no marketing messages"];
    for (const [index, name] of names.entries()) {
      const box = page.getByRole("checkbox", { name });
      await box.click();
      await page.locator(".toasts").getByText("The service can't be reached.").nth(index).waitFor();
      expect(await box.isChecked()).toBe(false);
    }
    await page.unroute("**/v1/contacts/*");
    const box = page.getByRole("checkbox", { name: "Wants no marketing messages" });
    await box.click();
    await page.getByText("The contact gets no marketing messages.").first().waitFor();
    expect(await box.isChecked()).toBe(true);
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
