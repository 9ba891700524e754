/** The playground of the console: from a first start to a delivered message, the phone, and the trace. */
import type { Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorKey, ownerEmail, ownerPassword } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { runCommand } from "./support/command.ts";
import { logOf, useConsolePages } from "./support/console-pages.ts";
import { createStoryService } from "./support/console-service.ts";
import { focusByTab } from "./support/focus-by-tab.ts";
import { phoneOf, traceOf, writeOnPhone } from "./support/playground.ts";
import { type Receiver, startReceiver } from "./support/receiver.ts";
import { useService, waitUntil } from "./support/served-process.ts";

const serve = useService({
  TIDINGS_OWNER_EMAIL: ownerEmail,
  TIDINGS_OWNER_PASSWORD: ownerPassword,
  TIDINGS_OPERATOR_KEY: operatorKey,
  TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true",
});
const readAddress = async () => (await serve()).address;
const { post, read, write, signOwner } = createStoryService(readAddress);

/** Answers no webhook. */
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver((_, response) => response.writeHead(503).end());
});
afterAll(() => receiver[Symbol.asyncDispose]());

describePages(() => {
  const { open, openSignedIn } = useConsolePages(readAddress);

  // The first test: the service has nothing but what its first start makes.
  test("from the link of a first start to a delivered message, without a terminal", async () => {
    const { address, processes } = await serve();
    const env = { ...processes.env, PORT: new URL(address).port };
    const { stdout } = await runCommand(["console", "--json"], env);
    const [, fragment] = JSON.parse(stdout).url.split("#");
    const page = await open(`#${fragment}`);
    await page.getByRole("link", { name: "Open the playground" }).click();

    await page.getByRole("button", { name: "Make the sample" }).click();
    await page.getByText("The sample was made.").waitFor();
    await page.getByText("Template sample_order_ready: made").waitFor();
    await page.getByRole("button", { name: "Make the sample" }).click();
    await page.getByText("The sample was there already. Nothing was made.").waitFor();
    expect((await read("/v1/automation/flows")).data).toHaveLength(1);
    expect((await read("/v1/contacts")).data).toHaveLength(3);
    expect((await read("/v1/templates")).data).toHaveLength(1);

    await writeOnPhone(page, "menu");
    await page.getByRole("button", { name: "Opening hours" }).click();
    const phone = phoneOf(page, "Ada Lovelace");
    await phone.getByText("We are open from 9 to 5.").waitFor();
    await logOf(page).filter({ hasText: "We are open from 9 to 5." }).first().waitFor();

    await page.getByLabel("Reply", { exact: false }).last().fill("Is there anything else?");
    await page.keyboard.press("Enter");
    const answer = phone.getByRole("listitem").filter({ hasText: "Is there anything else?" });
    await answer.getByText("Delivered").waitFor();
    await page.getByRole("button", { name: "Read all" }).click();
    await answer.getByText("Read").waitFor();
    await page.context().close();
  });

  test("what is typed on the phone while a message is sent stays", async () => {
    const page = await openSignedIn("playground?number=%2B14155559600&name=Edith");
    const field = page.getByLabel("Write as the customer");
    const held: Route[] = [];
    await page.route("**/simulator/inbound", (route) => held.push(route));
    await field.fill("Hello");
    await field.press("Enter");
    await field.pressSequentially(" again");
    await waitUntil(async () => held.length > 0);
    await held[0]?.continue();
    await page.locator("[data-phone].own").getByText("Hello", { exact: true }).waitFor();
    expect(await field.inputValue()).toBe("Hello again");
    await page.context().close();
  });

  test("the trace has the flow, the call, the money and the attempt of a webhook, each with its id", async () => {
    const url = `http://127.0.0.1:${receiver.port}/hooks`;
    await post("/v1/webhook-subscriptions", { url, events: ["message.sent", "message.received"] });
    const { data: flow } = await post("/v1/automation/flows", {
      name: "Prices",
      trigger_type: "keyword",
      trigger_keyword: "price",
      end_action_type: "none",
      nodes: [{ id: "say", node_type: "send_message", action_config: { text: "It costs *5*." } }],
    });
    const page = await openSignedIn("playground?number=%2B14155559601&name=Grace");
    await page.getByLabel("Show ids").check();
    await writeOnPhone(page, "price?");
    await phoneOf(page, "Grace").getByText("It costs 5.").waitFor();
    const answer = traceOf(page, "It costs *5*.");
    await answer.getByText("A flow, at its node say").waitFor();
    await answer.getByText(/^Charged: .* of simulated money/).waitFor();
    await answer.getByText(`message.sent to ${url}`).waitFor();
    await answer.getByText(/attempts: [1-9]\d*, last answer: 503/).waitFor();
    expect(await answer.getByText(/^run_/).count()).toBe(1);
    await answer
      .locator(".trace-events")
      .getByText(/^message\.delivered evt_/)
      .waitFor();
    await page.locator("[data-run]").getByText(flow.id).waitFor();
    await traceOf(page, "price?").getByText(`message.received to ${url}`).waitFor();

    const { data: conversations } = await read("/v1/conversations");
    const conversation = conversations[0]?.id ?? "";
    const { data: sent } = await post("/v1/messages", {
      to: "+14155559601",
      type: "text",
      text: { body: "By the API" },
    });
    const called = traceOf(page, "By the API");
    await called.getByRole("link", { name: "Sent a message to Grace" }).waitFor();
    await called.getByText(/^act_/).waitFor();
    await called.getByRole("link", { name: "Open in the inbox" }).click();
    await page.locator(`[data-message="${sent.id}"].wanted`).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/inbox/${conversation}`);
    await page.context().close();
  });

  test("what a customer writes is text, in all panes", async () => {
    const page = await openSignedIn("playground?number=%2B14155559602&name=Mallory");
    const text = `<img src=x onerror="document.title='run'"> *<b>bold</b>*`;
    await writeOnPhone(page, text);
    const phone = phoneOf(page, "Mallory");
    await phone.locator("strong").getByText("<b>bold</b>").waitFor();
    await traceOf(page, text).waitFor();
    expect(await page.locator("img, b").count()).toBe(0);
    expect(await page.title()).toBe("Playground · Tidings");
    await page.context().close();
  });

  test("a row of a list is chosen, a file is sent, and a template is answered, by keyboard alone", async () => {
    const number = "+14155559603";
    const conversation = await write(number, "Hello");
    const list = {
      button: "Colours",
      sections: [{ rows: [{ id: "r", title: "Red", description: "Warm" }] }],
    };
    const interactive = { body: "Which colour?", list };
    await post("/v1/messages", { to: conversation, type: "interactive", interactive });
    const page = await openSignedIn(`playground?number=${encodeURIComponent(number)}`);
    const phone = phoneOf(page, number);
    await focusByTab(page, phone.getByText("Colours"));
    await page.keyboard.press("Enter");
    await focusByTab(page, phone.getByRole("button", { name: "Red" }));
    await page.keyboard.press("Enter");
    await phone.locator(".own").getByText("Red").waitFor();

    const template = {
      name: "sample_order_ready",
      language: "en",
      variables: { customer: "Ada", order: "A-17" },
    };
    await post("/v1/messages", { to: conversation, type: "template", template });
    await phone.getByText("Hello Ada, your order A-17 is ready at the desk.").waitFor();
    await phone.getByText("The shop").waitFor();
    await focusByTab(page, phone.getByRole("button", { name: "On my way" }));
    await page.keyboard.press("Enter");
    await phone.locator(".own").getByText("On my way").waitFor();

    await phone.locator("input[type=file]").setInputFiles({
      name: "order.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("A-17"),
    });
    const send = phone.getByRole("button", { name: "Send as the customer" });
    await expect.poll(() => send.isEnabled()).toBe(true);
    await focusByTab(page, send);
    await page.keyboard.press("Enter");
    await phone.locator(".own").getByRole("link", { name: "order.txt" }).waitFor();
    await logOf(page).getByRole("link", { name: "order.txt" }).first().waitFor();
    await page.context().close();
  });

  test("a new customer is made by number and name, and is in the list from the first message on", async () => {
    const page = await openSignedIn("playground");
    const customers = page.getByRole("combobox", { name: "Customer" });
    await customers.selectOption("new");
    await page.getByLabel("Phone number").fill("4155");
    await page.getByRole("button", { name: "Open the phone" }).click();
    expect(await page.getByLabel("Phone number").evaluate((field) => field.matches(":invalid"))).toBe(true);
    await page.getByLabel("Phone number").fill("+14155559605");
    await page.getByLabel("Name (optional)").fill("Katherine Johnson");
    await page.getByRole("button", { name: "Open the phone" }).click();
    await writeOnPhone(page, "Hello, *there*");
    await page.getByRole("heading", { name: "Katherine Johnson" }).waitFor();
    await page.reload();
    await phoneOf(page, "Katherine Johnson").locator("strong").getByText("there").waitFor();
    expect(await customers.locator("option").first().innerText()).toBe(
      "\u2068Katherine Johnson\u2069 +14155559605",
    );
    await page.context().close();
  });

  test("an inbox of another organization is no phone, and neither is one that does not exist", async () => {
    const other = await post(
      "/operator/v1/organizations",
      { name: "Other", owner: { email: "other@example.org", name: "Other" } },
      { "x-api-key": operatorKey },
    );
    const key = { "x-api-key": other.data.api_key.secret_key };
    const inbox = await post("/v1/inboxes", { name: "Private", phone_number: "+14155550190" }, key);
    for (const id of [inbox.data.id, "inb_01m7zc9x1yf2tr5p3h2k8w6m4q"]) {
      const page = await openSignedIn(`playground?inbox=${id}`);
      await page.getByText("There is no such simulated inbox.").waitFor();
      expect(await page.locator("body").innerText()).not.toContain("Private");
      await page.context().close();
    }
  });

  test("an inbox that is not simulated is never shown as a phone", async () => {
    const page = await openSignedIn("inbox");
    await page.getByRole("link", { name: "Playground" }).waitFor();
    await page.route("**/v1/inboxes", async (route) => {
      const response = await route.fetch();
      const { data } = await response.json();
      const real = data.map((inbox: object) => ({ ...inbox, channel: "whatsapp", simulated: false }));
      await route.fulfill({ response, json: { data: real } });
    });
    await page.goto(`${await readAddress()}/console/playground`);
    await page.getByText("There is no such simulated inbox.").waitFor();
    expect(await page.getByRole("link", { name: "Playground" }).count()).toBe(0);
    expect(await page.getByLabel("Write as the customer").count()).toBe(0);
    await page.context().close();
  });

  test("an agent has the phone, without what the role may not do", async () => {
    const ava = { email: "ava@example.com", password: "a long enough password" };
    await post("/v1/users", { ...ava, name: "Ava", role: "agent" }, await signOwner());
    const page = await openSignedIn("playground?number=%2B14155559604", {}, ava);
    await writeOnPhone(page, "Hello");
    await traceOf(page, "Hello").waitFor();
    await page.getByText("they need the scope tokens:read").waitFor();
    await page.getByRole("button", { name: "Controls" }).click();
    await page.getByText("it needs the scope templates:manage").waitFor();
    expect(await page.getByRole("button", { name: "Make the sample" }).count()).toBe(0);
    await page.context().close();
  });
});
