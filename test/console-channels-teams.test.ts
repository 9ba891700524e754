/** The settings of people, teams and routing: who signs in, who gets what, and what routing will do. */
import { beforeAll, expect, test } from "vitest";
import { operatorKey, ownerEmail, ownerKey, ownerPassword } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { signInByKeyboard, useConsolePages } from "./support/console-pages.ts";
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
const { post, signOwner, write } = createStoryService(readAddress);

/** A supervisor, whose session the tests share. */
const sam = { email: "sam@example.com", password: "a long enough password" };
let samId: string;

beforeAll(async () => {
  const { data } = await post("/v1/users", { ...sam, name: "Sam Adeyemi", role: "agent" }, await signOwner());
  samId = data.id;
});

async function readAgent(conversation: string): Promise<string | null> {
  const answer = await fetch(`${await readAddress()}/v1/conversations/${conversation}`, {
    headers: { "x-api-key": ownerKey },
  });
  return ((await answer.json()) as { data: { assigned_to: string | null } }).data.assigned_to;
}

describePages(() => {
  const { open, openSignedIn } = useConsolePages(readAddress);

  test("a person who is added signs in with the password shown once, and sees what the role allows", async () => {
    const page = await openSignedIn("settings/people");
    await page.getByRole("button", { name: "Add a person" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Ann <b>Lee</b>");
    await page.getByLabel("E-mail address", { exact: true }).fill("ann@");
    await page.getByRole("button", { name: "Add the person" }).click();
    await page.getByText("Send an e-mail address.").waitFor();
    await page.getByLabel("E-mail address", { exact: true }).fill("ann@example.com");
    await page.getByLabel("Role").selectOption("Agent");
    await page.getByText("Answers customers, changes contacts, teams, routing").first().waitFor();
    await page.getByRole("button", { name: "Add the person" }).click();
    const details = await page.getByRole("textbox", { name: "Sign-in details" }).inputValue();
    const [, password = ""] = /Password: (.+)$/.exec(details) ?? [];
    expect(details).toBe(
      `Address: ${await readAddress()}/console/\nE-mail address: ann@example.com\nPassword: ${password}`,
    );
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("link", { name: /Ann <b>Lee<\/b>/ }).waitFor();

    const own = await open("");
    await signInByKeyboard(own, { email: "ann@example.com", password });
    await own.getByRole("link", { name: "Settings" }).click();
    await own.getByRole("link", { name: "Inboxes" }).click();
    await own.getByText("Your role may read this, and not change it.").waitFor();
    expect(await own.getByRole("link", { name: "API keys" }).count()).toBe(0);
    expect(await own.getByRole("link", { name: "Connect a WhatsApp number" }).count()).toBe(0);
    await own.getByRole("link", { name: "People" }).click();
    await own.getByRole("link", { name: /Ann <b>Lee<\/b>/ }).click();
    await own.getByRole("heading", { name: "Ann <b>Lee</b>" }).waitFor();
    expect(await own.getByRole("button", { name: "Deactivate …" }).count()).toBe(0);
    await own.getByRole("link", { name: "Routing" }).click();
    await own.getByRole("link", { name: "Add a policy" }).waitFor();

    await page.getByRole("link", { name: /Ann <b>Lee<\/b>/ }).click();
    await page.getByRole("button", { name: "Deactivate …" }).click();
    await page.getByRole("button", { name: "Deactivate", exact: true }).click();
    await page.getByText("Ann <b>Lee</b> is deactivated.").waitFor();
    await own.reload();
    await own.getByRole("heading", { name: "Sign in to Tidings" }).waitFor();
    await page.getByRole("button", { name: "Activate" }).click();
    await page.getByText("Ann <b>Lee</b> can sign in again.").waitFor();
    await page.getByRole("button", { name: "New password …" }).click();
    await page.getByRole("button", { name: "Set a new password" }).click();
    const renewed = await page.getByRole("textbox", { name: "Sign-in details" }).inputValue();
    const [, next = ""] = /Password: (.+)$/.exec(renewed) ?? [];
    expect(next).not.toBe(password);
    await own.goto(`${await readAddress()}/console/`);
    await signInByKeyboard(own, { email: "ann@example.com", password: next });
    await Promise.all([own.context().close(), page.context().close()]);
  });

  test("the last owner stays: the service's reason is shown", async () => {
    const page = await openSignedIn("settings/people");
    await page.getByRole("link", { name: new RegExp(ownerEmail) }).click();
    await page.getByRole("button", { name: "Deactivate …" }).click();
    await page.getByRole("button", { name: "Deactivate", exact: true }).click();
    await page.getByText("An organization must have an active owner.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByLabel("Role").selectOption("Administrator");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("An organization must have an active owner.").waitFor();
    await page.context().close();
  });

  test("a team and policies are made, and the try-out says where a new conversation then goes", async () => {
    const page = await openSignedIn("settings/teams");
    await page.getByRole("button", { name: "Add a team" }).click();
    await page.getByLabel("Name").fill("Billing <i>desk</i>");
    await page.getByRole("button", { name: "Add the team" }).click();
    await page.getByText("Nobody is in this team yet.").waitFor();
    await page.getByRole("button", { name: "Add a member" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Person").selectOption({ value: samId });
    await dialog.getByLabel("Skills").fill("billing, fr");
    await dialog.getByRole("button", { name: "Add a member" }).click();
    await page.getByText("Gets new conversations · 0 of 5 conversations · billing, fr").waitFor();

    await page.getByRole("link", { name: "Routing" }).click();
    await page.getByRole("link", { name: "Add a policy" }).click();
    await page.getByLabel("Name").fill("Invoices");
    await page.getByRole("button", { name: "Add a condition" }).click();
    await page.getByLabel("Value of condition 1").fill("invoice");
    await page.getByLabel("Where to").selectOption("Billing <i>desk</i>");
    await page.getByLabel("Who of the team gets it").selectOption("Who has the skills");
    await page.getByLabel("Skills that are needed").fill("billing");
    await page.getByLabel(/^Seconds after which an absent person/).fill("300");
    await page.getByRole("button", { name: "Add the policy" }).click();
    const sentence =
      "If the message contains “invoice”: to whoever of Billing <i>desk</i> has the skills billing.";
    await page.getByText(sentence).waitFor();
    await page.locator("[data-policy] a", { hasText: "Invoices" }).click();
    const requeue = page.getByLabel(/^Seconds after which an absent person/);
    expect(await requeue.inputValue()).toBe("300");
    await page.getByRole("link", { name: "Routing" }).click();

    const tryOut = page.getByRole("region", { name: "Try it" });
    const act = tryOut.getByRole("button", { name: "Show who gets it" });
    await act.click();
    await tryOut.getByText("No policy would apply").waitFor();
    await tryOut.getByLabel("The customer's first message").fill("My INVOICE is wrong");
    await act.click();
    await tryOut.getByText("Sam Adeyemi would get it.").waitFor();
    await tryOut.getByText('The policy "Invoices" (by skills) chose Sam Adeyemi').waitFor();
    expect(await readAgentOf("+14155559601", "My INVOICE is wrong")).toBe(samId);

    // An absence is seen at its time.
    await page.getByRole("link", { name: "Teams" }).click();
    await page.getByRole("link", { name: /Billing/ }).click();
    await page.getByRole("button", { name: "Change Sam Adeyemi" }).click();
    await dialog.getByLabel("Away from").fill("2031-05-01T09:00");
    await dialog.getByLabel("Back at").fill("2031-05-08T09:00");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText(/Away from May 1, 2031.* until May 8, 2031/).waitFor();
    await page.getByRole("link", { name: "Routing" }).click();
    await tryOut.getByLabel("The customer's first message").fill("invoice");
    await tryOut.getByLabel("Time").fill("2031-05-02T12:00");
    await act.click();
    await tryOut.getByText("It would wait until somebody is free.").waitFor();
    await tryOut.getByText("Gets no new conversations now").waitFor();
    await page.context().close();
  });

  async function readAgentOf(from: string, text: string): Promise<string | null> {
    const conversation = await write(from, text);
    await waitUntil(async () => (await readAgent(conversation)) !== null);
    return readAgent(conversation);
  }

  test("by keyboard alone policies change their order, are deactivated and deleted", async () => {
    const policy = { strategy: "round_robin", target_type: "team", is_active: false };
    const first = await post("/v1/routing/policies", { ...policy, name: "First", priority: 3 });
    const second = await post("/v1/routing/policies", { ...policy, name: "Second", priority: 3 });
    const page = await openSignedIn("settings/routing");
    const order = () => page.locator("[data-policy] a").allInnerTexts();
    await focusByTab(page, page.getByRole("button", { name: "Move Second up" }));
    await page.keyboard.press("Enter");
    await waitUntil(async () => (await order()).indexOf("Second") < (await order()).indexOf("First"));
    await page.getByText("Second is now number 1.").waitFor({ state: "attached" });
    await focusByTab(page, page.getByRole("button", { name: "Activate First" }));
    await page.keyboard.press("Enter");
    await focusByTab(page, page.getByRole("button", { name: "Deactivate First" }));
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Activate First" }).waitFor();
    for (const [name, { data }] of Object.entries({ First: first, Second: second })) {
      await focusByTab(page, page.locator(`[data-policy="${data.id}"] a`));
      await page.keyboard.press("Enter");
      await focusByTab(page, page.getByRole("button", { name: "Delete the policy …" }));
      await page.keyboard.press("Enter");
      await focusByTab(page, page.getByRole("button", { name: "Delete the policy", exact: true }));
      await page.keyboard.press("Enter");
      await page.getByText(`${name} is deleted.`).waitFor();
    }
    await page.context().close();
  });

  test("conditions that the form can't show are kept as the API has them", async () => {
    const conditions = { not: { attribute: "name", operator: "starts_with", value: "A" } };
    const policy = { name: "Complex", strategy: "weighted", target_type: "team", is_active: false };
    const { data } = await post("/v1/routing/policies", { ...policy, conditions });
    const page = await openSignedIn(`settings/routing/${data.id}`);
    await page.getByText("If not (the contact's name begins with “A”)").waitFor();
    const json = page.getByLabel("Conditions, as the API has them");
    expect(JSON.parse(await json.inputValue())).toEqual(conditions);
    await json.fill("{");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("This is not valid JSON.").waitFor();
    await json.fill('{"attribute": "message.text", "operator": "sounds_like", "value": "x"}');
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("conditions.operator: Known operators: eq, neq,").waitFor();
    await page.context().close();
  });

  test("ids of another organization are not found", async () => {
    const other = await post(
      "/operator/v1/organizations",
      { name: "Other", owner: { email: "other@example.org", name: "Other" } },
      { "x-api-key": operatorKey },
    );
    const key = { "x-api-key": other.data.api_key.secret_key };
    const inbox = await post("/v1/inboxes", { name: "Private", phone_number: "+14155550181" }, key);
    const team = await post("/v1/teams", { name: "Private" }, key);
    const policy = { name: "Private", strategy: "sticky", target_type: "team" };
    const { data } = await post("/v1/routing/policies", policy, key);
    const page = await openSignedIn("settings");
    const addresses = {
      [`inboxes/${inbox.data.id}`]: "There is no such inbox.",
      "people/usr_01J00000000000000000000000": "There is no such person.",
      [`teams/${team.data.id}`]: "There is no such team.",
      [`routing/${data.id}`]: "There is no such policy.",
    };
    for (const [path, text] of Object.entries(addresses)) {
      await page.goto(`${await readAddress()}/console/settings/${path}`);
      await page.getByText(text).waitFor();
      expect(await page.locator("body").innerText()).not.toContain("Private");
    }
    await page.context().close();
  });

  test("axe finds nothing, and nothing is too wide", async () => {
    const team = await post("/v1/teams", {
      name: "A team with a name of some length & more",
      is_active: true,
    });
    await post(`/v1/teams/${team.data.id}/members`, {
      user_id: samId,
      role: "lead",
      skills: ["one", "two", "three"],
    });
    const policy = { name: "Long", strategy: "sticky", target_type: "team", target_id: team.data.id };
    const conditions = {
      and: [
        { attribute: "message.text", operator: "contains", value: "order" },
        { attribute: "country", operator: "eq", value: "DE" },
      ],
    };
    const { data } = await post("/v1/routing/policies", { ...policy, conditions });
    for (const width of pageWidths) {
      const page = await openSignedIn("settings/people", { width });
      const visit = async (path: string) => page.goto(`${await readAddress()}/console/settings/${path}`);
      await page.locator("[data-person]").first().waitFor();
      await expectAccessible(page, "people");
      await page.getByRole("button", { name: "Add a person" }).click();
      await page.getByRole("dialog").waitFor();
      await expectAccessible(page, "new person");
      await visit(`people/${samId}`);
      await page.getByRole("button", { name: "Deactivate …" }).click();
      await page.getByRole("dialog").waitFor();
      await expectAccessible(page, "person");
      await visit("teams");
      await page.locator(`[data-team="${team.data.id}"]`).waitFor();
      await expectAccessible(page, "teams");
      await visit(`teams/${team.data.id}`);
      await page.getByRole("button", { name: "Change Sam Adeyemi" }).click();
      await page.getByRole("dialog").waitFor();
      await expectAccessible(page, "team");
      await visit("routing");
      await page.getByRole("button", { name: "Show who gets it" }).click();
      await page.locator("[role=status] .notice").waitFor();
      await expectAccessible(page, "routing");
      await visit(`routing/${data.id}`);
      await page.getByLabel("Value of condition 2").waitFor();
      await expectAccessible(page, "policy");
      await page.context().close();
    }
  });
});
