/** The settings of the console: assistants, keys, rules and budgets, and the organization. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { catalogue } from "../tools/index.ts";
import { operatorKey, ownerEmail, ownerPassword } from "./support/app.ts";
import { connectAssistant } from "./support/assistant.ts";
import { phoneNumbers } from "./support/broadcasts.ts";
import { describePages } from "./support/browser.ts";
import { useConsolePages } from "./support/console-pages.ts";
import { createStoryService } from "./support/console-service.ts";
import { expectAccessible, pageWidths } from "./support/expect-accessible.ts";
import { focusByTab, hasFocus } from "./support/focus-by-tab.ts";
import { useService, waitUntil } from "./support/served-process.ts";

const serve = useService({
  TIDINGS_OWNER_EMAIL: ownerEmail,
  TIDINGS_OWNER_PASSWORD: ownerPassword,
  TIDINGS_OPERATOR_KEY: operatorKey,
});
const readAddress = async () => (await serve()).address;
const { post, put, readPhone, signOwner } = createStoryService(readAddress);

const agent = { email: "agent@example.com", password: "a long enough password" };
const admin = { email: "admin@example.com", password: "a long enough password" };
let person: Awaited<ReturnType<typeof signOwner>>;

beforeAll(async () => {
  person = await signOwner();
  await post("/v1/users", { ...agent, name: "Ann Agent", role: "agent" }, person);
  await post("/v1/users", { ...admin, name: "Adam Admin", role: "admin" }, person);
});

/** A broadcast to new contacts, ready to be executed. @returns its id */
async function prepareBroadcast(numbers: readonly string[]): Promise<string> {
  const { client } = await serve();
  const { data: template } = await post("/v1/templates", {
    name: "opening",
    category: "utility",
    template_data: { body: "We open at 9." },
  });
  await post(`/v1/templates/${template.id}/submit`, {});
  await waitUntil(
    async () => (await client.call(catalogue.get_template, { id: template.id })).data.status === "approved",
  );
  for (const phone_number of numbers) {
    const { data } = await post("/v1/contacts", { phone_number, name: "Ann" });
    await client.call(catalogue.tag_contact, { id: data.id, add: ["story"] });
  }
  const query = { attribute: "tags", operator: "has_any", value: ["story"] };
  const { data: cohort } = await post("/v1/cohorts", { name: "Story", query });
  const input = { name: "Opening", cohort_id: cohort.id, template_id: template.id };
  return (await post("/v1/broadcasts", input)).data.id;
}

/** Makes a key over the API. */
async function makeKey(name: string) {
  const { data } = await post("/v1/api-keys", { name, scopes: ["contacts:read", "inbox:write"] });
  return data;
}

const saved = (page: Page) => page.getByText("Saved.").last();

describePages(() => {
  const { openSignedIn } = useConsolePages(readAddress);

  test("an assistant is connected, its broadcast waits for a person, and arrives once", async () => {
    // More than the rules of a new assistant let through.
    const numbers = phoneNumbers(11, 628);
    const broadcast = await prepareBroadcast(numbers);
    const page = await openSignedIn("settings");
    await page.getByLabel("Name of the assistant").fill("Helper <b>bold</b>");
    await page.getByRole("button", { name: "Make its key" }).click();
    await page.getByText("Not connected yet.").waitFor();
    const pasted = page.getByRole("textbox", { name: "What to paste" });
    await page.getByLabel("Where the program runs").selectOption("Anywhere (HTTP)");
    const snippet = await pasted.inputValue();
    const secret = /Bearer (sk_live_[\w-]+)"/.exec(snippet)?.[1] ?? "";
    expect(snippet).toContain(`${await readAddress()}/mcp`);
    await using assistant = await connectAssistant({ address: await readAddress() }, secret);
    await page.getByText("Connected.").waitFor();
    await assistant.client.callTool({ name: "execute_broadcast", arguments: { id: broadcast } });
    await page.getByText(/^Its latest call: Asked to send a broadcast: .* \(Waits for a person\)$/).waitFor();
    expect(await readPhone(numbers[0] ?? "")).toEqual([]);

    await page.getByRole("link", { name: /Approvals/ }).click();
    await page.locator("[data-plan]").first().click();
    await page.getByText("Helper <b>bold</b>").first().waitFor();
    await page.getByRole("button", { name: "Approve …" }).click();
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("Approved").first().waitFor();
    // The button that opened the dialog is gone.
    await waitUntil(() => hasFocus(page.getByRole("heading", { level: 2 })));
    const { client } = await serve();
    const read = async () => (await client.call(catalogue.get_broadcast, { id: broadcast })).data;
    await waitUntil(async () => (await read()).execution_status === "completed");
    for (const number of numbers) {
      await waitUntil(async () => (await readPhone(number)).length > 0);
    }
    const received = await Promise.all(numbers.map(readPhone));
    expect(received.map(({ length }) => length)).toEqual(numbers.map(() => 1));
    await page.context().close();
  });

  test("what is pasted for a program on this machine starts the server with the assistant's key", async () => {
    const page = await openSignedIn("settings/assistant");
    await page.getByLabel("Name of the assistant").fill("Local");
    await page.getByRole("button", { name: "Make its key" }).click();
    await page.getByLabel(/^Program/).selectOption("Another program");
    const pasted = page.getByRole("textbox", { name: "What to paste" });
    const client = new Client({ name: "story", version: "1.0.0" });
    await client.connect(new StdioClientTransport(JSON.parse(await pasted.inputValue())));
    try {
      const { structuredContent } = await client.callTool({ name: "whoami", arguments: {} });
      expect(structuredContent).toMatchObject({ data: { credential: { type: "api_key", name: "Local" } } });
      await page.getByText("Its latest call: Read what the credential may do (Done)").waitFor();
      await page.getByRole("button", { name: "Connect another assistant" }).click();
      expect(await page.getByLabel("Name of the assistant").inputValue()).toBe("");
      const preset = page.getByRole("button", { name: "Recommended for an assistant" });
      expect(await preset.getAttribute("aria-pressed")).toBe("true");
    } finally {
      await client.close();
    }
    await page.context().close();
  });

  test("a key is made with chosen scopes, its secret works, and ends when the key is revoked", async () => {
    const page = await openSignedIn("settings/keys");
    await page.getByRole("link", { name: "New key" }).click();
    await page.getByRole("button", { name: "Make the key" }).click();
    const name = page.getByLabel("Name");
    await page.getByText("Send at least 1 character.").waitFor();
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    await name.fill("Shop <i>two</i>");
    await page.getByRole("button", { name: "Everyday work" }).click();
    await page.getByLabel("Keys, people and settings").selectOption("read");
    // A date without its time has no value: the key would never end.
    const expiry = page.getByLabel("Ends at");
    await expiry.pressSequentially("05012031");
    await page.getByRole("button", { name: "Make the key" }).click();
    await page.getByText("Complete this, or leave it empty.").waitFor();
    await waitUntil(() => hasFocus(expiry));
    await expiry.fill("2031-05-01T09:00");
    await page.getByRole("button", { name: "Make the key" }).click();
    const secret = await page.getByRole("textbox", { name: "Secret of the key" }).inputValue();
    const ask = async () =>
      (await fetch(`${await readAddress()}/v1/api-keys`, { headers: { "x-api-key": secret } })).status;
    expect(await ask()).toBe(200);
    await page.getByRole("link", { name: "Set its rules and budgets" }).click();
    await page.getByRole("heading", { name: "Shop <i>two</i>" }).waitFor();
    await page.getByText("Contacts: read, change;").waitFor();
    await page.getByRole("button", { name: "Revoke …" }).click();
    await page.getByRole("button", { name: "Revoke the key" }).click();
    await page.getByText("Revoked.").waitFor();
    expect(await ask()).toBe(401);
    await page.context().close();
  });

  test("rules and budgets of a key are edited by keyboard, and bind it", async () => {
    const { id, secret_key } = await makeKey("By keyboard");
    const page = await openSignedIn(`settings/keys/${id}`);
    await focusByTab(page, page.getByLabel("Messages to more people than"));
    await page.keyboard.type("many");
    await focusByTab(page, page.getByLabel("Messages in a day", { exact: true }));
    await page.keyboard.type("1");
    await focusByTab(page, page.getByLabel("What is beyond"));
    await page.keyboard.press("ArrowDown");
    await focusByTab(page, page.getByRole("button", { name: "Save rules and budgets" }));
    await page.keyboard.press("Enter");
    // The focus is in the wrong field, with the error beside it.
    await page.getByText("Send a number.").waitFor();
    const recipients = page.getByLabel("Messages to more people than");
    expect(await hasFocus(recipients)).toBe(true);
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("50");
    await page.keyboard.press("Enter");
    await saved(page).waitFor();
    await page.getByText("Waits for a person: messages to more than 50 people").waitFor();
    await page.getByText("0 of 1 used").waitFor();
    const key = { "x-api-key": secret_key };
    const input = { to: "+14155559701", type: "text", text: { body: "One" } };
    await post("/v1/messages", input, key);
    await expect(post("/v1/messages", input, key)).rejects.toThrow("budget_reached");
    await page.reload();
    await page.getByText("1 of 1 used").waitFor();
    await page.context().close();
  });

  test("what another person has saved meanwhile is named before it is replaced", async () => {
    const { id } = await makeKey("Edited twice");
    const page = await openSignedIn(`settings/keys/${id}`);
    await page.getByLabel("Messages in a day", { exact: true }).fill("5");
    await put(`/v1/api-keys/${id}/rules`, { rules: { mode: "approve" } }, person);
    await page.getByRole("button", { name: "Save rules and budgets" }).click();
    await page.getByText("Somebody else has changed this since you opened it").waitFor();
    const { client } = await serve();
    const read = async () =>
      (await client.call(catalogue.list_api_keys, {})).data.find((key) => key.id === id)?.rules;
    expect(await read()).toMatchObject({ mode: "approve", budgets: null });
    await page.getByRole("button", { name: "Save rules and budgets" }).click();
    await saved(page).waitFor();
    expect(await read()).toMatchObject({ mode: "auto", budgets: { messages: { day: 5 } } });
    await page.context().close();
  });

  test("a key of another organization is not found", async () => {
    const other = await post(
      "/operator/v1/organizations",
      { name: "Other", owner: { email: "other@example.org", name: "Other" } },
      { "x-api-key": operatorKey },
    );
    const credential = { "x-api-key": other.data.api_key.secret_key };
    const { data } = await post("/v1/api-keys", { name: "Private", scopes: ["inbox:read"] }, credential);
    const page = await openSignedIn(`settings/keys/${data.id}`);
    await page.getByText("There is no such key.").waitFor();
    expect(await page.locator("body").innerText()).not.toContain("Private");
    await page.context().close();
  });

  test("rules of all assistants, budgets and release limits are saved apart", async () => {
    const page = await openSignedIn("settings/rules");
    const assistants = page.getByRole("region", { name: "All assistants" });
    await assistants.getByLabel("Every broadcast, whatever its size").check();
    await assistants.getByText("What is allowed at all").click();
    const operations = assistants.getByLabel("These operations only");
    await operations.fill("get_message, send_mesage");
    await operations.press("Enter");
    await assistants.getByText("Send names of operations").waitFor();
    expect(await operations.getAttribute("aria-invalid")).toBe("true");
    await operations.fill("get_message, send_message");
    await assistants.getByRole("button", { name: "Save the rules of all assistants" }).click();
    await saved(page).waitFor();
    const organization = page.getByRole("region", { name: "The whole organization" });
    await organization.getByLabel("Price of messages in a month").fill("250.5");
    await organization.getByRole("button", { name: "Save the budgets of the organization" }).click();
    const release = page.getByRole("region", { name: "Who approves" });
    await release.getByLabel("Admins: people").fill("500");
    await release.getByRole("button", { name: "Save who approves" }).click();
    const { client } = await serve();
    await waitUntil(async () => (await client.call(catalogue.get_rules, {})).data.release_limits !== null);
    expect((await client.call(catalogue.get_rules, {})).data).toMatchObject({
      mcp: {
        mode: "auto",
        approve: { broadcasts: true },
        allow: { operations: ["get_message", "send_message"] },
      },
      budgets: { spend: { day: null, month: 250.5 } },
      release_limits: { admin: { recipients: 500 } },
    });
    await page.context().close();

    // An admin can't raise an own limit.
    const ofAdmin = await openSignedIn("settings/rules", {}, admin);
    await ofAdmin.getByText("Only an owner changes these limits.").waitFor();
    expect(await ofAdmin.getByLabel("Admins: people").isDisabled()).toBe(true);
    await ofAdmin.context().close();
    await put("/v1/rules", { mcp: null, budgets: null, release_limits: null }, person);
  });

  test("the organization's name and business hours are saved, and errors stand beside the times", async () => {
    const page = await openSignedIn("settings/organization");
    await page.getByLabel("Name", { exact: true }).fill("Harbour <b>Café</b>");
    await page.getByLabel("Time zone").selectOption("Europe/Berlin");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("banner").getByText("Harbour <b>Café</b>").waitFor();
    await page.getByLabel("Always open").uncheck();
    const monday = page.getByRole("group", { name: "Monday" });
    await monday.getByLabel("To", { exact: true }).fill("08:00");
    await page.getByLabel("Time zone").selectOption("Europe/Madrid");
    await page.getByText("In the time zone of the organization, Europe/Madrid").waitFor();
    await page.getByRole("button", { name: "Save business hours" }).click();
    await monday.getByText("Send a time after from.").waitFor();
    await monday.getByLabel("To", { exact: true }).fill("12:00");
    await monday.getByRole("button", { name: "Add times: Monday" }).click();
    await monday.getByLabel("From", { exact: true }).last().fill("13:00");
    await page.getByRole("button", { name: "Save business hours" }).click();
    const { client } = await serve();
    await waitUntil(
      async () => (await client.call(catalogue.get_organization, {})).data.business_hours !== null,
    );
    expect((await client.call(catalogue.get_organization, {})).data).toMatchObject({
      name: "Harbour <b>Café</b>",
      time_zone: "Europe/Madrid",
      business_hours: {
        monday: [
          { from: "09:00", to: "12:00" },
          { from: "13:00", to: "17:00" },
        ],
        sunday: [],
      },
    });
    await page.context().close();
  });

  test("an agent reads the organization and nothing of keys", async () => {
    const page = await openSignedIn("settings", {}, agent);
    await page.getByText("Your role may read this, and not change it.").waitFor();
    const sections = page.getByRole("navigation", { name: "Settings" }).getByRole("link");
    expect(await sections.allTextContents()).toContain("Organization");
    expect(await sections.allTextContents()).not.toContain("API keys");
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
    await page.goto(`${await readAddress()}/console/settings/keys`);
    await page.getByText("There is no such section, or your role may not read it.").waitFor();
    await page.context().close();
  });

  test("axe finds nothing on the sections, and nothing is too wide", async () => {
    const { id } = await makeKey(
      "A name that is long enough to be broken <i>somewhere</i> on a narrow screen",
    );
    await put(`/v1/api-keys/${id}/rules`, { rules: { budgets: { spend: { day: 3 } } } }, person);
    for (const width of pageWidths) {
      const page = await openSignedIn("settings/keys", { width });
      await page.locator(`[data-key="${id}"]`).waitFor();
      await expectAccessible(page, "keys");
      await page.locator(`[data-key="${id}"] a`).click();
      await page.getByText("What is allowed at all").click();
      await expectAccessible(page, "key");
      await page.getByRole("button", { name: "Revoke …" }).click();
      await page.getByRole("dialog").waitFor();
      await expectAccessible(page, "revoke");
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "Rules for everybody" }).click();
      await page.getByRole("heading", { name: "Who approves" }).waitFor();
      await expectAccessible(page, "rules");
      await page.getByRole("link", { name: "Organization" }).click();
      await page.getByLabel("Always open").waitFor();
      await page.getByLabel("Always open").setChecked(false);
      await page.getByRole("button", { name: "Add a holiday" }).click();
      await expectAccessible(page, "organization");
      await page.getByRole("link", { name: "Connect an assistant" }).click();
      await page.getByLabel("Name of the assistant").fill("Axe");
      await expectAccessible(page, "assistant");
      await page.getByRole("button", { name: "Make its key" }).click();
      await page.getByText("Not connected yet.").waitFor();
      await expectAccessible(page, "snippets");
      await page.context().close();
    }
  });
});
