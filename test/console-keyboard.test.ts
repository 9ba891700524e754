/** The 24-hour window in a browser with the keyboard alone: a template after its end, and the warnings. */
import { expect, test } from "vitest";
import { inboxes } from "../tools/inboxes.ts";
import { useTestApp } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import {
  consoleFolder,
  logOf,
  readLog,
  rowOf,
  signInByKeyboard,
  useConsolePages,
} from "./support/console-pages.ts";
import { focusByTab, hasFocus } from "./support/focus-by-tab.ts";
import { waitUntil } from "./support/served-process.ts";
import { openPhone } from "./support/simulator.ts";
import { createTemplateHelpers } from "./support/templates.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describePages(() => {
  const app = useTestApp({ consoleFolder });
  const { open } = useConsolePages(() => app.address);

  test("a template is sent outside of the window, and no text", async () => {
    const { data } = await app.call(inboxes.list_inboxes, {});
    await app.call(inboxes.update_inbox, { id: data[0]?.id ?? "", settings: { service_window: "strict" } });
    await createTemplateHelpers(app).approve({
      name: "order_shipped",
      template_data: { body: "Hello {{1}}, your order {{2}} is on its way to you." },
    });
    const phone = openPhone(app, "+14155559301");
    const { conversation_id } = await phone.write("Where is my order?", { name: "Ada" });
    await app.advanceTime(dayMs + 1_000);

    const page = await open("");
    await signInByKeyboard(page);
    await rowOf(page, conversation_id).waitFor();
    await page.keyboard.press("j");
    await logOf(page).getByText("Where is my order?").waitFor();
    await page.getByText("The contact has not written in the last 24 hours.").first().waitFor();
    expect(await page.getByRole("textbox", { name: "Write a reply" }).count()).toBe(0);

    const opener = page.getByRole("button", { name: "Send template" });
    await focusByTab(page, opener);
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Send a template" });
    await focusByTab(page, dialog.getByRole("searchbox"));
    await page.keyboard.type("shipped");
    await focusByTab(page, dialog.getByRole("button", { name: "order_shipped" }));
    await page.keyboard.press("Enter");
    // The first value is the contact's name, and the focus is on it.
    const [name, order] = [dialog.getByLabel("Value 1"), dialog.getByLabel("Value 2")];
    await name.waitFor();
    await waitUntil(() => hasFocus(name));
    expect(await name.inputValue()).toBe("Ada");
    await dialog.getByRole("heading", { name: "order_shipped" }).waitFor();
    await focusByTab(page, order);
    await page.keyboard.type("A-17");
    const body = "Hello Ada, your order A-17 is on its way to you.";
    await dialog.getByRole("region", { name: "Preview" }).getByText(body).waitFor();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(await hasFocus(opener)).toBe(true);

    await logOf(page).locator("[data-message]").getByText(body).waitFor();
    await app.advanceTime(1_000);
    await logOf(page).getByTitle("Delivered").waitFor();
    const shown = (await phone.listMessages()).filter(({ direction }) => direction === "outbound");
    expect(shown.map(({ template }) => template?.body)).toEqual([body]);
    expect(await readLog(page)).toEqual(["Where is my order?", body]);
    await page.context().close();
  });

  test("an inbox that is not strict warns in the reply box, and the longest waiting row says for how long", async () => {
    const { data } = await app.call(inboxes.list_inboxes, {});
    const settings = { service_window: "advisory" } as const;
    await app.call(inboxes.update_inbox, { id: data[0]?.id ?? "", settings });
    const { conversation_id } = await openPhone(app, "+14155559302").write("Where is my parcel?");
    await app.advanceTime(dayMs + 3 * hourMs);

    const page = await open("?view=waiting");
    await signInByKeyboard(page);
    await page.clock.setFixedTime(app.now());
    await page.reload();
    await rowOf(page, conversation_id).getByText("Waiting for 27 hr").waitFor();
    await page.keyboard.press("j");
    await logOf(page).getByText("Where is my parcel?").waitFor();
    await page.locator(".composer").getByText("The 24-hour window is closed.").waitFor();
    await page.getByRole("textbox", { name: "Write a reply" }).waitFor();
    await page.context().close();
  });
});
