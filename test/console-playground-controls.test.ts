/** The controls of the playground: failures, reviews of templates, and what each of them changes. */
import { beforeAll, describe, expect, test } from "vitest";
import { operatorKey, ownerEmail, ownerPassword } from "./support/app.ts";
import { describePages, hasBrowser } from "./support/browser.ts";
import { useConsolePages } from "./support/console-pages.ts";
import { createStoryService } from "./support/console-service.ts";
import { expectAccessible, pageWidths } from "./support/expect-accessible.ts";
import { focusByTab } from "./support/focus-by-tab.ts";
import { phoneOf, traceOf } from "./support/playground.ts";
import { openProcesses, useService } from "./support/served-process.ts";

const owner = { TIDINGS_OWNER_EMAIL: ownerEmail, TIDINGS_OWNER_PASSWORD: ownerPassword };
const serve = useService({ ...owner, TIDINGS_OPERATOR_KEY: operatorKey });
const readAddress = async () => (await serve()).address;
const { post, put, read, write } = createStoryService(readAddress);

const say = (to: string, body: string) => post("/v1/messages", { to, type: "text", text: { body } });

/** The other files test the review by itself: here templates wait. */
beforeAll(() => put("/simulator/templates", { outcome: "hold" }));

async function submitTemplate(name: string): Promise<string> {
  const template_data = { body: "Your order has been shipped." };
  const template = { name, category: "utility", language: "en", template_data };
  const { data } = await post("/v1/templates", template);
  await post(`/v1/templates/${data.id}/submit`, {});
  return data.id;
}

describePages(() => {
  const { openSignedIn } = useConsolePages(readAddress);
  const openControls = async (number: string) => {
    const page = await openSignedIn(`playground?number=${encodeURIComponent(number)}`);
    await page.getByRole("button", { name: "Controls" }).click();
    return page;
  };

  test("a failure that is set by slider fails a message, and the trace says why, until it is removed", async () => {
    const number = "+14155559701";
    await write(number, "Hello");
    const page = await openControls(number);
    await page.getByLabel(`Only messages to ${number}`).check();
    const slider = page.getByRole("slider", { name: "Messages that fail" });
    await focusByTab(page, slider);
    await page.keyboard.press("End");
    const failures = async () => ((await read("/simulator/faults")).data as { failures?: object }).failures;
    await expect.poll(failures).toEqual([{ code: 131026, share: 1, to: number }]);

    // What can't be changed is shown as it is.
    await page.route("**/simulator/faults", (route) =>
      route.request().method() === "PUT" ? route.abort() : route.continue(),
    );
    const boxes = [
      { name: `Only messages to ${number}`, isChecked: true },
      { name: "Receipts say that messages are free", isChecked: false },
    ];
    for (const [index, { name, isChecked }] of boxes.entries()) {
      const box = page.getByRole("checkbox", { name });
      await box.click();
      await page.locator(".toasts").getByText("The service can't be reached.").nth(index).waitFor();
      expect(await box.isChecked()).toBe(isChecked);
    }
    await page.unroute("**/simulator/faults");

    // Also where the controls are not shown.
    const notice = page.getByText("Messages that fail: 100% (131026");
    await notice.waitFor();
    await say(number, "Is it there?");
    await say("+14155559702", "Somebody else");
    await page.getByRole("button", { name: "Trace" }).click();
    const failed = traceOf(page, "Is it there?");
    await failed.getByText("Failed: Message undeliverable").waitFor();
    await failed.locator(".chip").getByText("Not delivered").waitFor();
    const bubble = phoneOf(page, number).getByRole("listitem").filter({ hasText: "Is it there?" });
    await bubble.getByText("a real phone does not show it").first().waitFor();

    await page.getByRole("button", { name: "Controls" }).click();
    await page.getByRole("button", { name: "Remove all failures" }).click();
    await expect.poll(failures).toEqual([]);
    await notice.waitFor({ state: "detached" });
    await say(number, "And now?");
    await page.getByRole("button", { name: "Trace" }).click();
    await traceOf(page, "And now?").getByText("Delivered", { exact: true }).first().waitFor();
    await page.context().close();
  });

  test("failures that the API has set stay when one is set on the page", async () => {
    const others = [
      { code: 131026, share: 0.5 },
      { code: 130472, share: 1, to: "+14155559703" },
    ];
    await put("/simulator/faults", { failures: others, doubled_receipts: 0.2 });
    const page = await openControls("+14155559704");
    await page.getByText("More failures that were set over the API stay: 1.").waitFor();
    const slider = page.getByRole("slider", { name: "Receipts that are lost" });
    for (let press = 0; press < 3; press += 1) {
      await slider.press("ArrowRight");
    }
    await expect
      .poll(async () => (await read("/simulator/faults")).data)
      .toMatchObject({ failures: others, doubled_receipts: 0.2, lost_receipts: 0.15 });
    await put("/simulator/faults", {});
    await page.context().close();
  });

  test("a template that waits is rejected with a reason, approved, and paused", async () => {
    const id = await submitTemplate("page_verdict");
    const page = await openControls("+14155559705");
    const row = page.locator('[data-template="page_verdict"]');
    await row.getByText("Pending").waitFor();
    await page.getByLabel("Reason of rejections").selectOption("PROMOTIONAL");
    await page.getByRole("button", { name: "Reject page_verdict (en)" }).click();
    await row.getByText("Rejected").waitFor();
    const template = async () => (await read(`/v1/templates/${id}`)).data;
    await expect.poll(template).toMatchObject({ status: "rejected", rejection_reason: "PROMOTIONAL" });
    await page.getByRole("button", { name: "Approve page_verdict (en)" }).click();
    await expect.poll(template).toMatchObject({ status: "approved" });
    await page.getByRole("button", { name: "Pause page_verdict (en)" }).click();
    await row.getByText("Paused").waitFor();
    await page.context().close();
  });

  test("the page says how to get a clock that can be moved", async () => {
    const page = await openControls("+14155559706");
    await page.getByLabel("Operator's key").fill("not the operator's key, but as long");
    await page.getByRole("button", { name: "Show the clock" }).click();
    await page.getByRole("alert").getByText("requires the operator's key").waitFor();
    await page.getByLabel("Operator's key").fill(operatorKey);
    await page.getByRole("button", { name: "Show the clock" }).click();
    await page.getByText("start a service with a data folder of its own, TIDINGS_SANDBOX_CLOCK=on").waitFor();
    await page.context().close();
  });

  test("axe finds nothing in any pane, and nothing is too wide", async () => {
    const number = "+14155559707";
    const buttons = [{ id: "y", title: "Yes" }];
    const conversation = await write(number, "A *text* of some length, which has to wrap somewhere.");
    const interactive = { body: "Shall we?", footer: "The shop", buttons };
    await post("/v1/messages", { to: conversation, type: "interactive", interactive });
    await submitTemplate("axe_verdict");
    for (const width of pageWidths) {
      const page = await openSignedIn(`playground?number=${encodeURIComponent(number)}`, { width });
      await page.locator("[data-phone]").nth(1).waitFor({ state: "attached" });
      for (const view of ["Phone", "Conversation", "Trace", "Controls"]) {
        const button = page.getByRole("button", { name: view, exact: true });
        if (await button.isVisible()) {
          await button.click();
        }
        await page.locator("[data-trace]").nth(1).waitFor({ state: "attached" });
        await page.locator('[data-template="axe_verdict"]').waitFor({ state: "attached" });
        await expectAccessible(page, view);
      }
      await page.getByRole("combobox", { name: "Customer" }).selectOption("new");
      await page.getByLabel("Phone number").waitFor();
      await expectAccessible(page, "new customer");
      await page.context().close();
    }
  });
});

describe.skipIf(!hasBrowser)("without the simulator's routes", { timeout: 60_000 }, () => {
  let address = "";
  const { openSignedIn } = useConsolePages(() => address);

  test("the bar has no playground, and its address says why", async () => {
    await using processes = await openProcesses();
    ({ address } = await processes.serve({ ...owner, TIDINGS_SIMULATOR: "off" }));
    const page = await openSignedIn("playground");
    await page.getByText("this service was started with TIDINGS_SIMULATOR=off").waitFor();
    expect(await page.getByRole("link", { name: "Playground" }).count()).toBe(0);
    await page.context().close();
  });
});
