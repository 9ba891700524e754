/** The list of the console's inbox in a browser: moving, searching, marking, undoing, and others' changes. */
import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { notes } from "../tools/notes.ts";
import { quickReplies } from "../tools/quick-replies.ts";
import { users } from "../tools/users.ts";
import { useTestApp } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { consoleFolder, logOf, readLog, reply, rowOf, useConsolePages } from "./support/console-pages.ts";
import { waitUntil } from "./support/served-process.ts";
import { openPhone, setFaults, writeLater } from "./support/simulator.ts";

describePages(() => {
  const app = useTestApp({ consoleFolder });
  const { openSignedIn } = useConsolePages(() => app.address);

  const write = (number: string, text: string) => writeLater(app, number, text);

  test("after a conversation is closed, J opens the one below it", async () => {
    const below = await write("+14155559401", "The first question");
    const closed = await write("+14155559402", "The second question");
    await write("+14155559403", "The third question");
    const page = await openSignedIn(`inbox/${closed}`);
    await logOf(page).getByText("The second question").waitFor();
    await rowOf(page, below).waitFor();
    await page.keyboard.press("e");
    await rowOf(page, closed).waitFor({ state: "detached" });
    await page.keyboard.press("j");
    await logOf(page).getByText("The first question").waitFor();
    await page.context().close();
  });

  test("a contact without a conversation is written to from the search", async () => {
    await app.call(contacts.create_contact, { phone_number: "+14155559404", name: "Nora Newman" });
    const page = await openSignedIn("");
    await page.getByRole("searchbox").fill("Nora New");
    await page.getByRole("button", { name: "Nora Newman" }).click();
    const dialog = page.getByRole("dialog", { name: "New conversation" });
    expect(await dialog.getByLabel("Phone number").inputValue()).toBe("+14155559404");
    await dialog.getByText("There is no approved template yet.").waitFor();
    await dialog.getByRole("link", { name: "Open the playground" }).waitFor();
    await page.context().close();
  });

  test("a snoozed conversation says until when, and is reopened from its menu", async () => {
    const id = await write("+14155559405", "Call me later.");
    const page = await openSignedIn(`inbox/${id}`);
    await logOf(page).getByText("Call me later.").waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "In one hour" }).click();
    await page
      .locator(".conversation-header")
      .getByText(/^Snoozed until .*\d/)
      .waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "Reopen now" }).click();
    await page.locator(".conversation-header").getByText(/^Open/).waitFor();
    await page.context().close();
  });

  test("a tag for several conversations keeps them selected", async () => {
    const ids = [await write("+14155559406", "One"), await write("+14155559407", "Two")];
    const page = await openSignedIn("");
    for (const id of ids) {
      await page
        .locator("li", { has: rowOf(page, id) })
        .getByRole("checkbox")
        .check();
    }
    const bar = page.getByRole("group", { name: "2 conversations selected" });
    await bar.getByRole("textbox").or(bar.getByRole("combobox")).fill("newsletter");
    await page.keyboard.press("Enter");
    await page.getByText("2 conversations tagged newsletter.").waitFor();
    await bar.getByRole("button", { name: "Close" }).click();
    await page.getByText("2 conversations closed.").waitFor();
    await bar.waitFor({ state: "detached" });
    await page.context().close();
  });

  test("a quick reply whose code was saved with a slash is inserted by it", async () => {
    await app.call(quickReplies.create_quick_reply, { short_code: "/hours", content: "We open at nine." });
    const id = await write("+14155559408", "When do you open?");
    const page = await openSignedIn(`inbox/${id}`);
    await logOf(page).getByText("When do you open?").waitFor();
    await page.keyboard.press("r");
    await page.keyboard.type("/hours");
    await page.getByRole("option", { name: "/hours" }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await logOf(page).getByText("We open at nine.").waitFor();
    await page.context().close();
  });

  test("what others change of the contact and the marks shows in the open page without a message", async () => {
    const id = await write("+14155559409", "Please send me no more offers.");
    const { contact_id } = (await app.call(conversations.get_conversation, { id })).data;
    const page = await openSignedIn(`inbox/${id}`);
    const optedOut = page.getByRole("checkbox", { name: "Wants no marketing messages" });
    await optedOut.waitFor();
    expect(await optedOut.isChecked()).toBe(false);
    await page.getByRole("textbox", { name: "Write a reply" }).waitFor();

    await app.call(contacts.update_contact, { id: contact_id, name: "Olga Old", opted_out: true });
    await page.getByRole("heading", { name: "Olga Old" }).first().waitFor();
    await page.locator(".composer").getByText("The contact gets no marketing messages.").waitFor();
    expect(await optedOut.isChecked()).toBe(true);
    await app.call(contacts.tag_contact, { id: contact_id, add: ["wholesale"] });
    await page.getByRole("region", { name: "Contact tags" }).getByText("wholesale").waitFor();
    await app.call(conversations.update_conversation, { id, is_favorite: true, add_tags: ["billing"] });
    await rowOf(page, id).getByTitle("Favorite").waitFor();
    await page.getByRole("region", { name: "Conversation tags" }).getByText("billing").waitFor();
    await app.call(contacts.update_contact, { id: contact_id, blocked: true });
    await page.locator(".composer").getByText("The contact is blocked and gets no messages.").waitFor();
    expect(await page.getByRole("textbox", { name: "Write a reply" }).count()).toBe(0);
    await page.context().close();
  });

  test("a text that was not delivered is sent again once", async () => {
    const id = await write("+14155559419", "Are you open?");
    const page = await openSignedIn(`inbox/${id}`);
    await logOf(page).getByText("Are you open?").waitFor();
    await setFaults(app, { failures: [{ code: 131026, share: 1 }] });
    await reply(page, "Until five.");
    const again = page.getByRole("button", { name: "Send again" });
    await waitUntil(async () => {
      await app.advanceTime(1_000);
      return (await again.count()) === 1;
    });
    await setFaults(app, {});
    await again.click();
    await page.getByText("The text was sent again, as a new message.").waitFor();
    await again.waitFor({ state: "detached" });
    await waitUntil(async () => {
      await app.advanceTime(1_000);
      return (await readLog(page)).length === 3;
    });
    expect(await readLog(page)).toEqual(["Are you open?", "Until five.", "Until five."]);
    await page.context().close();
  });

  test("rows show a failed message, a newer note and favorites, and mentions are counted until they are read", async () => {
    const failed = await write("+14155559410", "Are you there?");
    const noted = await write("+14155559411", "I need an invoice.");
    await setFaults(app, { failures: [{ code: 131026, share: 1 }] });
    const text = { body: "Yes, we are." };
    await app.call(messages.send_message, { to: failed, type: "text", text });
    await app.advanceTime(1_000);
    await setFaults(app, {});
    await app.call(conversations.update_conversation, { id: failed, is_favorite: true });
    const [me] = (await app.call(users.list_users, {})).data;
    const mentions = [me?.id ?? ""];
    await app.call(notes.add_note, { conversation_id: noted, text: "Please check the address.", mentions });

    const page = await openSignedIn();
    await rowOf(page, failed).getByText("Not delivered. Key First key: Yes, we are.").waitFor();
    await rowOf(page, noted).getByText("Key First key: Please check the address.").waitFor();
    await page.getByRole("combobox", { name: "Show" }).selectOption("Favorites");
    await rowOf(page, noted).waitFor({ state: "detached" });
    await rowOf(page, failed).getByTitle("Favorite").waitFor();
    const counter = page.getByRole("button", { name: "1 conversation with new mentions of you" });
    await app.advanceTime(1_000);
    await counter.click();
    await rowOf(page, noted).click();
    await logOf(page).getByText("Please check the address.").waitFor();
    await page.getByRole("combobox", { name: "Show" }).selectOption("Open");
    await rowOf(page, failed).waitFor();
    await counter.waitFor({ state: "detached" });
    await page.context().close();
  });

  test("spam is found in its view, and spam and an assignment are taken back by a key", async () => {
    const id = await write("+14155559412", "You have won a prize.");
    const page = await openSignedIn(`inbox/${id}`);
    // The menu is opened before the people that it offers were read.
    const held: Route[] = [];
    await page.route("**/v1/users?*", (route) => held.push(route));
    await page.reload();
    await logOf(page).getByText("You have won a prize.").waitFor();
    await page.keyboard.press("a");
    await page.locator(".menu:popover-open").waitFor();
    await Promise.all(held.map((route) => route.continue()));
    await page.unroute("**/v1/users?*");
    await page.getByRole("button", { name: "Owner (you)" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const facts = page.getByRole("region", { name: "Assignment" });
    await page.getByText("Assigned to Owner.").waitFor();
    // By whom it was assigned, and to whom.
    await facts.getByText("Owner").nth(1).waitFor();
    await page.keyboard.press("z");
    await facts.getByText("Unassigned").waitFor();

    await page.getByRole("button", { name: "More" }).press("Enter");
    await page.getByRole("button", { name: "Spam" }).press("Enter");
    await page.getByText("Conversation marked as spam.").waitFor();
    await rowOf(page, id).waitFor({ state: "detached" });
    await page.getByRole("combobox", { name: "Show" }).selectOption("Spam");
    await rowOf(page, id).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("z");
    await rowOf(page, id).waitFor({ state: "detached" });
    await page.locator(".conversation-header").getByText(/^Open/).waitFor();
    await page.context().close();
  });

  test("a search result is shown in its place and marked, and the search stays", async () => {
    const number = "+14155559413";
    await write(number, "The order is 4711, a zebra.");
    for (let count = 1; count <= 70; count += 1) {
      await openPhone(app, number).write(`Question ${count}.`);
    }
    const id = await write(number, "The last question.");
    const page = await openSignedIn("?search=zebra");
    await page.getByRole("link", { name: "The order is 4711" }).press("Enter");
    const hit = logOf(page).locator(".wanted");
    await hit.waitFor();
    expect(await hit.textContent()).toContain("a zebra");
    const [place, frame] = [await hit.boundingBox(), await logOf(page).boundingBox()];
    expect(place?.y).toBeGreaterThan(frame?.y ?? Number.NaN);
    expect((place?.y ?? 0) + (place?.height ?? 0)).toBeLessThan((frame?.y ?? 0) + (frame?.height ?? 0));
    expect(await readLog(page)).not.toContain("The last question.");
    expect(await page.getByRole("searchbox").inputValue()).toBe("zebra");
    await page.getByRole("button", { name: "Show the latest messages" }).click();
    await logOf(page).getByText("The last question.").waitFor();
    expect(await rowOf(page, id).getAttribute("aria-current")).toBe("true");
    await page.context().close();
  });

  test("an image shows before it is sent, and a toast covers no part of the reply box", async () => {
    for (let count = 1; count <= 12; count += 1) {
      await openPhone(app, "+14155559415").write(`Question ${count}.`);
    }
    const id = await write("+14155559415", "Can you send me a photo?");
    for (const width of [1280, 360]) {
      const page = await openSignedIn(`inbox/${id}`, { width });
      await logOf(page).getByText("Can you send me a photo?").waitFor();
      const buffer = Buffer.from(pixel, "base64");
      await page.setInputFiles("input[type=file]", { name: "parcel.png", mimeType: "image/png", buffer });
      const image = page.locator(".tray img");
      await image.waitFor();
      // The last message stays in sight when the reply box grows.
      await waitUntil(async () => {
        const last = await logOf(page).getByText("Can you send me a photo?").boundingBox();
        const log = await logOf(page).boundingBox();
        return (last?.y ?? 0) + (last?.height ?? 0) < (log?.y ?? 0) + (log?.height ?? 0) - 20;
      });
      await waitUntil(() =>
        image.evaluate((element) => "naturalWidth" in element && element.naturalWidth === 1),
      );
      await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("button", { name: /avorite$/ }).click();
      await page.getByRole("button", { name: "Close", exact: true }).click();
      const toast = page.locator(".toasts > div");
      await toast.getByText("Conversation closed.").waitFor();
      const [box, composer] = [await toast.boundingBox(), await page.locator(".composer").boundingBox()];
      const isBeside = (box?.x ?? 0) + (box?.width ?? 0) <= (composer?.x ?? 0);
      const isAbove = (box?.y ?? 0) + (box?.height ?? 0) <= (composer?.y ?? 0);
      expect([width, isBeside || isAbove]).toEqual([width, true]);
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByRole("button", { name: "Close", exact: true }).waitFor();
      await page.context().close();
    }
  });
});

/** A PNG of one pixel. */
const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
