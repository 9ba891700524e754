/** Settings of the console that several people edit at once. */
import { expect, test } from "vitest";
import { rules } from "../tools/rules.ts";
import { useTestApp } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { consoleFolder, useConsolePages } from "./support/console-pages.ts";
import { waitUntil } from "./support/served-process.ts";

describePages(() => {
  const app = useTestApp({ consoleFolder });
  const { openSignedIn } = useConsolePages(() => app.address);

  test("saving one form of a section does not hide what somebody else has changed in another form", async () => {
    const page = await openSignedIn("settings/rules");
    const organization = page.getByRole("region", { name: "The whole organization" });
    const assistants = page.getByRole("region", { name: "All assistants" });
    const saveBudgets = organization.getByRole("button", { name: "Save the budgets of the organization" });
    const saveRules = assistants.getByRole("button", { name: "Save the rules of all assistants" });
    const conflict = page.getByText("Somebody else has changed this since you opened it");
    const read = async () => (await app.call(rules.get_rules, {})).data;
    await organization.getByLabel("Price of messages in a month").fill("250");
    const budgets = { spend: { day: null, month: 100 } };
    await app.call(rules.set_rules, { mcp: { mode: "approve" }, budgets });

    await saveBudgets.click();
    await conflict.waitFor();
    await saveRules.click();
    await conflict.nth(1).waitFor();
    expect(await read()).toMatchObject({ mcp: { mode: "approve" }, budgets });
    await saveBudgets.click();
    await waitUntil(async () => (await read()).budgets?.spend?.month === 250);
    expect(await read()).toMatchObject({ mcp: { mode: "approve" } });
    await saveRules.click();
    await waitUntil(async () => (await read()).mcp?.mode !== "approve");
    await page.context().close();
  });
});
