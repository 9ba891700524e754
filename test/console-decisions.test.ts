/** The pages of approvals and activity: what waits is read, decided by people, and then in the record. */
import { beforeAll, expect, test } from "vitest";
import { operatorKey, ownerEmail, ownerPassword } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { useConsolePages } from "./support/console-pages.ts";
import { createStoryService } from "./support/console-service.ts";
import { expectAccessible, pageWidths } from "./support/expect-accessible.ts";
import { focusByTab } from "./support/focus-by-tab.ts";
import { useService, waitUntil } from "./support/served-process.ts";

const serve = useService({
  TIDINGS_OWNER_EMAIL: ownerEmail,
  TIDINGS_OWNER_PASSWORD: ownerPassword,
  TIDINGS_OPERATOR_KEY: operatorKey,
});
const readAddress = async () => (await serve()).address;
const { post, put, readPhone, signOwner } = createStoryService(readAddress);

let person: Awaited<ReturnType<typeof signOwner>>;
/** A key whose writes wait for a person. */
let boundKey: { readonly "x-api-key": string };

beforeAll(async () => {
  person = await signOwner();
  const scopes = ["inbox:read", "inbox:write", "contacts:read", "contacts:write"];
  const { data } = await post("/v1/api-keys", { name: "Assistant", scopes });
  await put(`/v1/api-keys/${data.id}/rules`, { rules: { mode: "approve" } }, person);
  boundKey = { "x-api-key": data.secret_key };
});

/** @returns the id of the plan that waits */
async function ask(to: string, body: string): Promise<string> {
  const { data } = await post("/v1/messages", { to, type: "text", text: { body } }, boundKey);
  return data.plan.id;
}

/** As the field of a time has it, in the time zone of this machine, which the browser has too. */
function localTime(time: Date): string {
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

describePages(() => {
  const { openSignedIn } = useConsolePages(readAddress);

  test("a waiting message is counted on every page, read, approved by keyboard, and arrives once", async () => {
    const page = await openSignedIn();
    const number = "+14155559501";
    const id = await ask(number, "Your <b>parcel</b> is here.");
    await page.getByRole("img", { name: "1 waiting" }).waitFor();
    await focusByTab(page, page.getByRole("link", { name: /Approvals/ }));
    await page.keyboard.press("Enter");
    await focusByTab(page, page.locator(`[data-plan="${id}"]`));
    await page.keyboard.press("Enter");
    await page.getByRole("listitem").getByText("Your <b>parcel</b> is here.").waitFor();
    await focusByTab(page, page.getByRole("button", { name: "Approve …" }));
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("1 person will get a message").waitFor();
    await focusByTab(page, page.getByRole("button", { name: "Approve", exact: true }));
    for (let press = 0; press < 5; press += 1) {
      // The key is held down.
      await page.keyboard.down("Enter");
    }
    await page.keyboard.up("Enter");
    await page.getByText("Approved, and done.").waitFor();
    await page.getByRole("img", { name: "1 waiting" }).waitFor({ state: "detached" });
    await waitUntil(async () => (await readPhone(number)).length > 0);
    expect(await readPhone(number)).toEqual(["Your <b>parcel</b> is here."]);

    await page.getByRole("link", { name: "Activity" }).click();
    const released = page.locator('[data-act="approve_plan"]');
    await released.first().click();
    await released.first().getByRole("link", { name: "Open the plan" }).waitFor();
    await released.first().getByText("What happened to the message").click();
    await released.first().getByText("Delivered").waitFor();
    await page.context().close();
  });

  test("a plan that reaches nobody names the contact that it changes", async () => {
    const contact = { phone_number: "+14155559508", name: "Ada <b>Lovelace</b>" };
    const { data } = await post("/v1/contacts", contact);
    const held = await put(`/v1/contacts/${data.id}`, { name: "Somebody else" }, boundKey);
    const page = await openSignedIn(`approvals/${held.data.plan.id}`);
    await page.getByText("About: Ada <b>Lovelace</b>, +14155559508").waitFor();
    await page.context().close();
  });

  test("two people who approve at once have one effect, and both see it", async () => {
    const sam = { email: "sam@example.com", password: "a long enough password" };
    await post("/v1/users", { ...sam, name: "Sam Adeyemi", role: "admin" }, person);
    const number = "+14155559502";
    const id = await ask(number, "Your table is ready.");
    const pages = [await openSignedIn(`approvals/${id}`), await openSignedIn(`approvals/${id}`, {}, sam)];
    for (const page of pages) {
      await page.getByRole("button", { name: "Approve …" }).click();
      await page.getByRole("dialog").waitFor();
    }
    await Promise.all(
      pages.map((page) => page.getByRole("button", { name: "Approve", exact: true }).click()),
    );
    for (const page of pages) {
      await page.getByText("Decided by").waitFor();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Approve …" }).waitFor({ state: "detached" });
    }
    await waitUntil(async () => (await readPhone(number)).length > 0);
    expect(await readPhone(number)).toEqual(["Your table is ready."]);
    await Promise.all(pages.map((page) => page.context().close()));
  });

  test("a plan that has changed is not done: it shows what is different, and is approved again", async () => {
    const { data: quickReply } = await post("/v1/quick-replies", { short_code: "times", content: "9 to 5" });
    const path = `/v1/quick-replies/${quickReply.id}`;
    const { data } = await put(path, { content: "9 to 6" }, boundKey);
    const page = await openSignedIn(`approvals/${data.plan.id}`);
    await page.getByText('"content": "9 to 6"').waitFor();
    await page.getByRole("button", { name: "Approve …" }).click();
    await put(path, { content: "8 to 4" });
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("It has changed since you opened it.").waitFor();
    await dialog.getByRole("insertion").getByText("It has changed:").waitFor();
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("Approved, and done.").waitFor();
    await page.context().close();
  });

  test("a plan is approved for a time after a time that is over was rejected", async () => {
    const id = await ask("+14155559509", "See you tomorrow.");
    const page = await openSignedIn(`approvals/${id}`);
    await page.getByRole("button", { name: "Approve …" }).click();
    const time = page.getByRole("dialog").getByLabel("Run at (empty: now)");
    const approve = page.getByRole("button", { name: "Approve", exact: true });
    await time.fill("2020-01-01T10:00");
    await approve.click();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await time.fill(localTime(new Date(Date.now() + 3_600_000)));
    await approve.click();
    await page.getByText("Approved: it runs at its time.").waitFor();
    await page.context().close();
  });

  test("a declined message is never sent, and its reason is kept", async () => {
    const number = "+14155559503";
    const id = await ask(number, "Buy now!");
    const page = await openSignedIn(`approvals/${id}`);
    await page.getByRole("button", { name: "Decline …" }).click();
    await page.getByLabel("Reason (optional; it is stored)").fill("Too pushy");
    await page.getByRole("button", { name: "Decline", exact: true }).click();
    await page.getByText("Declined.").waitFor();
    await page.getByText("Too pushy").waitFor();
    expect(await readPhone(number)).toEqual([]);
    await page.context().close();
  });

  test("acts are followed as they happen, and filtered by key, operation and outcome", async () => {
    const page = await openSignedIn("activity");
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    const sent = page.locator('[data-act="send_message"]');
    const before = await sent.count();
    await ask("+14155559504", "Live");
    await sent.nth(before).waitFor();
    await page.getByLabel("Outcome").selectOption("Had to wait for a person");
    await page.locator('[data-act="login"]').first().waitFor({ state: "detached" });
    await page.getByLabel("Operation").fill("update_quick_reply");
    await page.keyboard.press("Enter");
    await sent.first().waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Clear" }).click();
    await sent.first().waitFor();
    await page.context().close();
  });

  test("ids of another organization show nothing", async () => {
    const other = await post(
      "/operator/v1/organizations",
      { name: "Other", owner: { email: "other@example.org", name: "Other" } },
      { "x-api-key": operatorKey },
    );
    const key = { "x-api-key": other.data.api_key.secret_key };
    const input = { to: "+14155559505", type: "text", text: { body: "Private" } };
    const { data: plan } = await post("/v1/plans", { operation: "send_message", input }, key);
    const page = await openSignedIn(`approvals/${plan.id}`);
    await page.getByText("There is no such plan.").waitFor();
    await page.goto(`${await readAddress()}/console/activity?operation=plan_call&contact_id=${plan.id}`);
    await page.getByText("No acts match.").waitFor();
    expect(await page.locator("body").innerText()).not.toContain("Private");
    await page.context().close();
  });

  test("axe finds nothing on the pages and dialogs, and nothing is too wide", async () => {
    const id = await ask(
      "+14155559506",
      "A text with <i>markup</i> of some length, which has to wrap somewhere.",
    );
    for (const width of pageWidths) {
      const page = await openSignedIn("approvals", { width });
      await page.locator(`[data-plan="${id}"]`).click();
      await page.getByRole("button", { name: "Approve …" }).waitFor();
      await page.getByRole("listitem").getByText("A text with").waitFor();
      await expectAccessible(page, "plan");
      await page.getByRole("button", { name: "Approve …" }).click();
      await page.getByRole("dialog").waitFor();
      await expectAccessible(page, "decision");
      await page.goto(`${await readAddress()}/console/activity`);
      const act = page.locator('[data-act="send_message"]').first();
      await act.waitFor();
      await act.click();
      await page.getByText("approval_required").first().waitFor();
      await expectAccessible(page, "activity");
      await page.context().close();
    }
  });
});
