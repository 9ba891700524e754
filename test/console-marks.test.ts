/** Marks, statuses and agents that a person sets in the console's inbox, and what takes them back. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { notes } from "../tools/notes.ts";
import { users } from "../tools/users.ts";
import { useTestApp } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { consoleFolder, logOf, rowOf, useConsolePages } from "./support/console-pages.ts";
import { waitUntil } from "./support/served-process.ts";
import { writeLater } from "./support/simulator.ts";

describePages(() => {
  const app = useTestApp({ consoleFolder });
  const { openSignedIn } = useConsolePages(() => app.address);

  const write = (number: string, text: string) => writeLater(app, number, text);
  const readConversation = async (id: string) =>
    (await app.call(conversations.get_conversation, { id })).data;
  const waitUntilRead = (id: string) => waitUntil(async () => !(await readConversation(id)).is_unread);
  /** The marks that the page sets. */
  const watchMarks = (page: Page) => {
    const marks: unknown[] = [];
    page.on("request", (request) => {
      const { is_unread } = request.method() === "PATCH" ? request.postDataJSON() : {};
      if (is_unread !== undefined) {
        marks.push(is_unread);
      }
    });
    return marks;
  };

  test("a conversation that is marked as unread stays unread until the contact writes or it is opened again", async () => {
    const number = "+14155559430";
    const id = await write(number, "The first");
    const page = await openSignedIn(`inbox/${id}`);
    await logOf(page).getByText("The first").waitFor();
    await waitUntilRead(id);
    const badge = rowOf(page, id).locator(".badge");
    await badge.waitFor({ state: "detached" });
    const marks = watchMarks(page);
    const markUnread = async () => {
      await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("button", { name: "Unread", exact: true }).click();
      await badge.waitFor();
    };

    await markUnread();
    await app.call(conversations.update_conversation, { id, add_tags: ["later"] });
    await page.getByRole("region", { name: "Conversation tags" }).getByText("later").waitFor();
    expect(marks).toEqual([true]);
    await write(number, "The second");
    await logOf(page).getByText("The second").waitFor();
    await waitUntilRead(id);
    await badge.waitFor({ state: "detached" });
    await markUnread();
    await page.reload();
    await waitUntilRead(id);
    await badge.waitFor({ state: "detached" });
    expect(marks).toEqual([true, false, true, false]);

    // The number of mentions is known later than the note.
    await markUnread();
    await app.advanceTime(1_000);
    const mentions = [(await app.call(users.list_users, {})).data[0]?.id ?? ""];
    await app.call(notes.add_note, { conversation_id: id, text: "Please look at this.", mentions });
    await logOf(page).getByText("Please look at this.").waitFor();
    await waitUntilRead(id);
    expect(marks.slice(4)).toEqual([true, false]);
    await page.context().close();
  });

  test.each([
    ["succeeds", "+14155559431"],
    ["fails", "+14155559432"],
  ])("a message that arrives while marking as read %s is read too", async (end, number) => {
    const id = await write(number, "The first");
    const page = await openSignedIn("");
    let count = 0;
    await page.route(`**/v1/conversations/${id}`, async (route) => {
      count += 1;
      if (route.request().method() !== "PATCH" || count > 1) {
        await route.continue();
        return;
      }
      const answer = await route.fetch();
      await write(number, "The second");
      await (end === "fails" ? route.abort() : route.fulfill({ response: answer }));
    });
    await rowOf(page, id).click();
    await logOf(page).getByText("The second").waitFor();
    await waitUntilRead(id);
    await page.context().close();
  });

  test("undoing returns several conversations to their former statuses and agents", async () => {
    const [me] = (await app.call(users.list_users, {})).data;
    const sam = await app.call(users.create_user, {
      email: "sam@example.com",
      name: "Sam Adeyemi",
      role: "agent",
      password: "a long enough password",
    });
    const [open, snoozed, closed] = [
      await write("+14155559433", "One"),
      await write("+14155559434", "Two"),
      await write("+14155559435", "Three"),
    ];
    const ids = [open, snoozed, closed];
    const snoozed_until = new Date(app.now().getTime() + 86_400_000).toISOString();
    await app.call(conversations.update_conversation, { id: snoozed, status: "snoozed", snoozed_until });
    await app.call(conversations.update_conversation, { id: closed, status: "closed" });
    await app.call(conversations.assign_conversation, { id: snoozed, assigned_to: sam.data.id });
    await app.call(conversations.assign_conversation, { id: closed, assigned_to: me?.id ?? "" });
    const read = async () => {
      const all = await Promise.all(ids.map(readConversation));
      return all.map(({ status, snoozed_until, assigned_to }) => ({ status, snoozed_until, assigned_to }));
    };
    const before = await read();

    const page = await openSignedIn("?view=all");
    const select = async () => {
      for (const id of ids) {
        const row = page.locator("li", { has: rowOf(page, id) });
        await row.getByRole("checkbox").check();
      }
    };
    await select();
    const bar = page.getByRole("group", { name: "3 conversations selected" });
    await bar.getByRole("button", { name: "Close" }).click();
    await page.getByText("2 conversations closed.").waitFor();
    expect((await read()).map(({ status }) => status)).toEqual(["closed", "closed", "closed"]);
    const undo = page.getByRole("button", { name: "Undo" });
    await undo.click();
    await waitUntil(async () => JSON.stringify(await read()) === JSON.stringify(before));

    await select();
    await bar.getByRole("button", { name: "Assign" }).click();
    await bar.getByRole("button", { name: "Owner" }).click();
    await page.getByText("2 conversations assigned to Owner.").waitFor();
    expect((await read()).map(({ assigned_to }) => assigned_to)).toEqual([me?.id, me?.id, me?.id]);
    await undo.click();
    await waitUntil(async () => JSON.stringify(await read()) === JSON.stringify(before));
    await page.context().close();
  });

  test("undoing the closing of a snoozed conversation snoozes it until the same time", async () => {
    const id = await write("+14155559436", "Call me tomorrow.");
    const snoozed_until = new Date(app.now().getTime() + 86_400_000).toISOString();
    await app.call(conversations.update_conversation, { id, status: "snoozed", snoozed_until });
    const page = await openSignedIn(`inbox/${id}`);
    await logOf(page).getByText("Call me tomorrow.").waitFor();
    await page.keyboard.press("e");
    await page.getByText("Conversation closed.").waitFor();
    await page.keyboard.press("z");
    await waitUntil(async () => (await readConversation(id)).status !== "closed");
    expect(await readConversation(id)).toMatchObject({ status: "snoozed", snoozed_until });
    await page.context().close();
  });
});
