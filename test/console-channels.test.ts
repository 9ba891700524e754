/** The settings of inboxes: a WhatsApp number is connected step by step, a simulated inbox in one step. */
import { afterAll, expect, test } from "vitest";
import { startEmulator } from "../emulator/index.ts";
import { operatorKey, ownerEmail, ownerPassword } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { readLog, useConsolePages } from "./support/console-pages.ts";
import { createStoryService } from "./support/console-service.ts";
import { expectAccessible, pageWidths } from "./support/expect-accessible.ts";
import { focusByTab, hasFocus } from "./support/focus-by-tab.ts";
import { ownPort } from "./support/own-port.ts";
import { useService } from "./support/served-process.ts";

const emulator = await startEmulator();
afterAll(() => emulator[Symbol.asyncDispose]());

const serve = useService({
  PORT: String(ownPort),
  TIDINGS_PUBLIC_URL: `http://127.0.0.1:${ownPort}`,
  TIDINGS_WHATSAPP_BASE_URL: emulator.url,
  TIDINGS_OWNER_EMAIL: ownerEmail,
  TIDINGS_OWNER_PASSWORD: ownerPassword,
  TIDINGS_OPERATOR_KEY: operatorKey,
});
const readAddress = async () => (await serve()).address;
const { post, signOwner } = createStoryService(readAddress);
const { settings } = emulator;

/** Controls the emulator: plays the customer, and the person at Meta's dashboard. */
async function control(path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${emulator.url}/emulator${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  expect(await answer.text().then((text) => [answer.status, text])).toEqual([200, expect.anything()]);
}

describePages(() => {
  const { openSignedIn } = useConsolePages(readAddress);

  test("a WhatsApp number is connected step by step, with a wrong secret named, and messages go both ways", async () => {
    const page = await openSignedIn("settings/inboxes");
    const copied = (name: string) => page.getByRole("textbox", { name, exact: true }).inputValue();
    await page.getByRole("link", { name: "Connect a WhatsApp number" }).click();
    const next = page.getByRole("button", { name: "Continue" });
    await page.getByLabel("Phone number", { exact: true }).fill("+1 555 078 3881");
    await page.getByLabel("Phone number ID").fill("Test number");
    await next.click();
    await page.getByText("These are digits alone.").waitFor();
    await page.getByText("Fill this in.").waitFor();
    await page.getByLabel("Phone number ID").fill(settings.phone_number_id);
    await page.getByLabel("WhatsApp Business Account ID").fill(settings.waba_id);
    await next.click();
    await page.getByLabel("App ID").fill(settings.app_id);
    await page.getByLabel("App secret").fill("not-the-secret");
    await page.getByLabel("Access token").fill(settings.access_token);
    await page.getByLabel("Verify token").fill(settings.verify_token);
    await next.click();
    await page.getByRole("button", { name: "Check at Meta and connect" }).click();

    const secret = page.getByLabel("App secret");
    await page.getByText("It is not the secret of the access token's app").waitFor();
    expect(await secret.getAttribute("aria-invalid")).toBe("true");
    expect(await hasFocus(secret)).toBe(true);
    // The hint of the field says where it is at Meta, and the error does not say it again.
    expect(await page.getByText("App settings → Basic → Show").count()).toBe(1);
    const states = await page
      .locator(".checks li")
      .evaluateAll((rows) => rows.map((row) => row.getAttribute("data-state")));
    expect(states).toEqual(["passed", "passed", "passed", "failed", "open"]);
    await secret.fill(settings.app_secret);
    await next.click();
    await page.getByRole("button", { name: "Check at Meta and connect" }).click();

    await page.getByText("WhatsApp is connected. Two steps are left.").waitFor();
    await page.getByText("Meta has reported nothing yet.").waitFor();
    await page.getByText("Set-up not finished").waitFor();
    expect(await copied("Verify token")).toBe(settings.verify_token);
    const callback_url = await copied("Callback URL");
    await page.getByText("Meta accepts no http:// address").waitFor();
    await page.getByText("Step 4 of 5").waitFor({ state: "attached" });
    await control(`/apps/${settings.app_id}`, { callback_url });

    const phone = page.getByLabel("Your phone");
    await phone.fill("+14155550123");
    await page.getByRole("button", { name: "Send the test message" }).click();
    await page.getByText("only a template can be sent").waitFor();
    await control("/inbound", { from: "+14155550123", name: "Ada", text: "Is this <b>real</b>?" });
    await page.getByText("Meta has reported to this address").waitFor();
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.getByText("Step 5 of 5").waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Send the test message" }).click();
    await page.getByText("Delivered: the number works in both directions.").waitFor();
    await page.getByRole("link", { name: "Open the conversation" }).click();
    await page.getByRole("log").getByText("Hello from Tidings!").waitFor();
    expect(await readLog(page)).toEqual(["Is this <b>real</b>?", "Hello from Tidings!"]);
    await control("/inbound", { from: "+14155550123", text: "Thank you" });
    await page.getByRole("log").getByText("Thank you").waitFor();
    await page.context().close();
  });

  test("a number that another inbox has is named at its step", async () => {
    await post("/v1/inboxes", { name: "Own", phone_number: "+14155550170" });
    const page = await openSignedIn("settings/inboxes/whatsapp");
    const next = page.getByRole("button", { name: "Continue" });
    await page.getByLabel("Phone number", { exact: true }).fill("+14155550170");
    await page.getByLabel("Phone number ID").fill(settings.phone_number_id);
    await page.getByLabel("WhatsApp Business Account ID").fill(settings.waba_id);
    await next.click();
    await page.getByLabel("App ID").fill(settings.app_id);
    await page.getByLabel("App secret").fill(settings.app_secret);
    await page.getByLabel("Access token").fill(settings.access_token);
    await next.click();
    await page.getByRole("button", { name: "Check at Meta and connect" }).click();
    await page.getByText("There is an inbox with this number already.").waitFor();
    expect(await hasFocus(page.getByLabel("Phone number", { exact: true }))).toBe(true);
    await page.context().close();
  });

  test("a token that has ended stops nothing unseen: the check says so, and new credentials repair it", async () => {
    const page = await openSignedIn("settings/inboxes");
    await page.getByRole("link", { name: /WhatsApp.*15550783881/ }).click();
    await page.getByRole("button", { name: "Check now" }).click();
    await page.getByText("It works: the credentials are accepted").waitFor();
    await control("/tokens/expire", { access_token: settings.access_token });
    await page.getByRole("button", { name: "Check now" }).click();
    await page.getByText("the token is wrong, has expired or was revoked").waitFor();
    await page.getByText("Compare the credentials with Meta's pages, and replace them below.").waitFor();
    await control("/tokens", { app_id: settings.app_id, access_token: "EAAsecond" });

    await page.getByRole("button", { name: "Replace the credentials …" }).click();
    await page.getByLabel("Phone number ID").fill(settings.phone_number_id);
    await page.getByLabel("WhatsApp Business Account ID").fill(settings.waba_id);
    await page.getByLabel("App ID").fill(settings.app_id);
    await page.getByLabel("App secret").fill(settings.app_secret);
    await page.getByLabel("Access token").fill(settings.access_token);
    await page.getByLabel("Verify token").fill(settings.verify_token);
    const replace = page.getByRole("button", { name: "Check at Meta and replace" });
    await replace.click();
    const wrong = page.locator("p.error", { hasText: "The token is wrong, has expired or was revoked." });
    await wrong.waitFor();
    await page.getByLabel("Access token").fill("EAAsecond");
    await replace.click();
    await page.getByText("The credentials are replaced.").waitFor();
    await page.getByRole("button", { name: "Check now" }).click();
    await page.getByText("It works: the credentials are accepted").waitFor();
    await page.context().close();
  });

  test("by keyboard alone a simulated inbox is made in one step, and rejects texts after the window", async () => {
    const page = await openSignedIn("settings/inboxes");
    await focusByTab(page, page.getByRole("button", { name: "Add a simulated inbox" }));
    await page.keyboard.press("Enter");
    await focusByTab(page, page.getByRole("button", { name: "Create the inbox" }));
    await page.keyboard.press("Enter");
    await page.getByText("Test inbox is ready.").waitFor();
    await focusByTab(page, page.getByRole("link", { name: /Test inbox/ }));
    await page.keyboard.press("Enter");
    await page.getByText("Sent, with a warning").waitFor();
    await focusByTab(page, page.getByLabel("Free text after the 24-hour window"));
    await page.keyboard.press("ArrowDown");
    await focusByTab(page, page.getByLabel("Most messages a second"));
    await page.keyboard.type("0");
    await page.keyboard.press("Enter");
    await page.getByText("Correct the marked fields.").waitFor();
    await page.keyboard.press("Backspace");
    await page.keyboard.type("20");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    await page.getByText("Rejected: send a template").waitFor();
    const inboxes = await fetch(`${await readAddress()}/v1/inboxes`, { headers: await signOwner() });
    const { data } = (await inboxes.json()) as { data: { name: string; settings: object }[] };
    expect(data.find(({ name }) => name === "Test inbox")?.settings).toEqual({
      service_window: "strict",
      messages_per_second: 20,
    });
    await page.context().close();
  });

  test("what somebody else has changed meanwhile is not overwritten unseen", async () => {
    const { data } = await post("/v1/inboxes", { name: "Shared", phone_number: "+14155550171" });
    const page = await openSignedIn(`settings/inboxes/${data.id}`);
    await page.getByLabel("Name").fill("Mine");
    await fetch(`${await readAddress()}/v1/inboxes/${data.id}`, {
      method: "PUT",
      headers: { ...(await signOwner()), "content-type": "application/json" },
      body: JSON.stringify({ settings: { daily_limit: 5 } }),
    });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Somebody else has changed this").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("heading", { name: "Mine" }).waitFor();
    await page.context().close();
  });

  test("axe finds nothing, nothing is too wide, and names are text", async () => {
    const name = "<i>Front</i> desk with a name of some length";
    const { data } = await post("/v1/inboxes", { name, phone_number: "+14155550172" });
    for (const width of pageWidths) {
      const page = await openSignedIn("settings/inboxes", { width });
      await page.locator(`[data-inbox="${data.id}"]`).getByText(name).waitFor();
      await expectAccessible(page, "list");
      await page.getByRole("button", { name: "Add a simulated inbox" }).click();
      await page.getByRole("dialog").waitFor();
      await expectAccessible(page, "simulated inbox");
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: /15550783881/ }).click();
      await page.getByRole("button", { name: "Check now" }).click();
      await page.getByText("It works").waitFor();
      await page.getByRole("button", { name: "Replace the credentials …" }).click();
      await expectAccessible(page, "inbox");
      await page.goto(`${await readAddress()}/console/settings/inboxes/whatsapp`);
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByText("Correct the marked fields.").waitFor();
      await expectAccessible(page, "set-up");
      await page.context().close();
    }
  });
});
