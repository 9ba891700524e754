/**
 * The clock of a sandbox, moved from the playground: what is due on the way happens, and the session goes on.
 *
 * @module-tag embedded
 */
import { expect, test } from "vitest";
import { operatorKey, ownerEmail, ownerPassword } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { useConsolePages } from "./support/console-pages.ts";
import { createStoryService } from "./support/console-service.ts";
import { phoneOf, traceOf, writeOnPhone } from "./support/playground.ts";
import { useService } from "./support/served-process.ts";

const serve = useService({
  TIDINGS_OWNER_EMAIL: ownerEmail,
  TIDINGS_OWNER_PASSWORD: ownerPassword,
  TIDINGS_OPERATOR_KEY: operatorKey,
  TIDINGS_SANDBOX_CLOCK: "on",
});
const readAddress = async () => (await serve()).address;
const { post } = createStoryService(readAddress);

describePages(() => {
  const { openSignedIn } = useConsolePages(readAddress);

  test("a flow that waits for a day answers when the clock has moved by a day", async () => {
    await post("/v1/automation/flows", {
      name: "Later",
      trigger_type: "keyword",
      trigger_keyword: "later",
      end_action_type: "none",
      nodes: [
        { id: "wait", node_type: "wait", action_config: { duration: "1d" } },
        {
          id: "say",
          node_type: "send_message",
          parent_node_id: "wait",
          action_config: { text: "A day has passed." },
        },
      ],
    });
    const page = await openSignedIn("playground?number=%2B14155559801&name=Grace");
    await writeOnPhone(page, "later");
    await page.getByText(/^waiting, at the node wait, until /).waitFor();

    await page.getByRole("button", { name: "Controls" }).click();
    await page.getByLabel("Operator's key").fill(operatorKey);
    await page.getByRole("button", { name: "Show the clock" }).click();
    await page.getByText(", the real time").waitFor();
    await page.getByRole("button", { name: "1 day" }).click();
    // A move stops wherever something is due, and takes several requests.
    await page.getByText(/about 24 hours ahead of the real time$/).waitFor({ timeout: 90_000 });

    await phoneOf(page, "Grace").getByText("A day has passed.").waitFor();
    await page.getByRole("button", { name: "Trace" }).click();
    await traceOf(page, "A day has passed.").getByText("A flow, at its node say").waitFor();
    await page.reload();
    await phoneOf(page, "Grace").getByText("A day has passed.").waitFor();
    expect(await page.getByLabel("Password").count()).toBe(0);
    await page.context().close();
  });
});
