/** Activity in sentences, and what has become of calls that had to wait and of broadcasts. */
import { beforeAll, expect, test } from "vitest";
import { ownerEmail, ownerPassword } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { useConsolePages } from "./support/console-pages.ts";
import { createStoryService } from "./support/console-service.ts";
import { expectAccessible, pageWidths } from "./support/expect-accessible.ts";
import { useService, waitUntil } from "./support/served-process.ts";

const serve = useService({ TIDINGS_OWNER_EMAIL: ownerEmail, TIDINGS_OWNER_PASSWORD: ownerPassword });
const readAddress = async () => (await serve()).address;
const { post, put, read, signOwner } = createStoryService(readAddress);

/** A key whose writes wait for a person. */
let boundKey: { readonly "x-api-key": string };

beforeAll(async () => {
  const person = await signOwner();
  const scopes = [
    "contacts:read",
    "contacts:write",
    "inbox:read",
    "inbox:write",
    "broadcasts:read",
    "broadcasts:send",
  ];
  const { data } = await post("/v1/api-keys", { name: "Assistant", scopes });
  await put(`/v1/api-keys/${data.id}/rules`, { rules: { mode: "approve" } }, person);
  boundKey = { "x-api-key": data.secret_key };
});

/** @returns the id of a broadcast of an approved template to these people */
async function createBroadcast(name: string, people: readonly (readonly [string, string])[]) {
  const tag = name.toLowerCase();
  for (const [phone_number, called] of people) {
    const { data } = await post("/v1/contacts", { phone_number, name: called });
    await post(`/v1/contacts/${data.id}/tags`, { add: [tag] });
  }
  const query = { attribute: "tags", operator: "has_any", value: [tag] };
  const { data: cohort } = await post("/v1/cohorts", { name, query });
  const { data: template } = await post("/v1/templates", {
    name: `${tag}_sale`,
    category: "marketing",
    language: "en",
    template_data: { body: "Hello {{1}}, our sale begins today." },
    variables: [{ name: "customer", component: "BODY", example: "Ada" }],
  });
  await post(`/v1/templates/${template.id}/submit`, {});
  await waitUntil(async () => {
    const { data } = await read("/v1/templates?status=approved");
    return data.some(({ id }) => id === template.id);
  });
  const input = {
    name,
    cohort_id: cohort.id,
    template_id: template.id,
    variable_mapping: { customer: "name" },
  };
  return (await post("/v1/broadcasts", input)).data.id;
}

describePages(() => {
  const { openSignedIn } = useConsolePages(readAddress);

  test("acts are sentences with the names of records, and ids are only in their details", async () => {
    const to = "+14155559701";
    await post("/v1/contacts", { phone_number: to, name: "Ada <b>Lovelace</b>" });
    await post("/v1/messages", { to, type: "text", text: { body: "Hello" } });
    await post("/v1/teams", { name: "Night shift" });
    const page = await openSignedIn("activity");
    await page.getByText("Sent a message to Ada <b>Lovelace</b>").waitFor();
    await page.getByText("Created a contact: Ada <b>Lovelace</b>").waitFor();
    await page.getByText("Created a team: Night shift").waitFor();
    const sent = page.locator('[data-act="send_message"]').first();
    expect(await sent.innerText()).not.toMatch(/send_message|msg_|con_/);
    await sent.click();
    await sent.getByText("Contact: Ada <b>Lovelace</b>").waitFor();
    await sent.getByText("Conversation with Ada <b>Lovelace</b>").waitFor();
    await sent.getByText("send_message", { exact: true }).waitFor();
    await page.context().close();
  });

  test("a call that had to wait shows that it was approved or declined, without a reload", async () => {
    const message = (to: string) => ({ to, type: "text", text: { body: "Hi" } });
    const { data: first } = await post("/v1/messages", message("+14155559702"), boundKey);
    await post("/v1/teams", { name: "Day shift" }, boundKey);
    const page = await openSignedIn("activity");
    const asked = page.locator("[data-act]", { hasText: "Asked to send a message to +14155559702" });
    await asked.getByText("Waits for a person").waitFor();
    const { data: plans } = await read("/v1/plans?status=awaiting_approval");
    const second = plans.find(({ id }) => id !== first.plan.id)?.id;
    const decisions = [
      { id: first.plan.id, open: "Approve …", decide: "Approve" },
      { id: second, open: "Decline …", decide: "Decline" },
    ];
    const other = await page.context().newPage();
    for (const { id, open, decide } of decisions) {
      await other.goto(`${await readAddress()}/console/approvals/${id}`);
      await other.getByRole("button", { name: open }).click();
      await other.getByRole("button", { name: decide, exact: true }).click();
      await other.getByText("Decided by").waitFor();
    }
    await page.bringToFront();
    await asked.getByText("Approved and done").waitFor();
    const team = page.locator("[data-act]", { hasText: "Asked to create a team" });
    await team.getByText("Declined").waitFor();
    await page.context().close();
  });

  test("the plan of a broadcast shows its counts as they change, and activity shows them too", async () => {
    const id = await createBroadcast("Winter", [
      ["+14155559711", "Grace"],
      ["+14155559712", "Alan"],
      ["+14155559713", "Joan"],
    ]);
    const faults = { failures: [{ code: 131026, share: 1, to: "+14155559713" }] };
    await put("/simulator/faults", faults);
    const { data } = await post(`/v1/broadcasts/${id}/execute`, {}, boundKey);
    const page = await openSignedIn(`approvals/${data.plan.id}`);
    await page
      .getByText(/of simulated money/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Approve …" }).click();
    await page
      .getByRole("dialog")
      .getByText(/3 people will get a message for .* of simulated money/)
      .waitFor();
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    const counts = page.locator(`[data-broadcast="${id}"]`);
    const expectCounts = async (shown: typeof counts) => {
      await shown.getByText("Completed").waitFor();
      await shown.locator("div", { hasText: /^Delivered2$/ }).waitFor();
      await shown.locator("div", { hasText: /^Not delivered1$/ }).waitFor();
    };
    await expectCounts(counts);
    await page.goto(`${await readAddress()}/console/activity`);
    const act = page.locator('[data-act="execute_broadcast"]').first();
    await act.getByText("Asked to send a broadcast: Winter").click();
    await act.getByText("What has become of the broadcast").click();
    await expectCounts(act.locator(`[data-broadcast="${id}"]`));
    await put("/simulator/faults", {});

    for (const width of pageWidths) {
      const shown = await openSignedIn(`approvals/${data.plan.id}`, { width });
      await shown.locator(`[data-broadcast="${id}"]`).waitFor();
      await expectAccessible(shown, "broadcast");
      await shown.context().close();
    }
    await page.context().close();
  });
});
