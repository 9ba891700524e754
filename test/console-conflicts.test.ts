/** Settings of the console that several people edit at once, or that are saved twice. */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
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

  test.each([
    { section: "keys/new", field: "Name", act: "Make the key", shows: "Secret of the key" },
    {
      section: "assistant",
      field: "Name of the assistant",
      act: "Make its key",
      shows: "Secret of the key",
    },
  ])("a key whose answer was lost is made once in $section", async ({ section, field, act, shows }) => {
    const page = await openSignedIn(`settings/${section}`);
    await page.getByLabel(field).fill(`Lost at ${section}`);
    await page.route("**/api-keys", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole("button", { name: act }).click();
    await page.getByText("The service can't be reached.").waitFor();
    await page.unrouteAll({ behavior: "wait" });
    await page.getByRole("button", { name: act }).click();
    await page.getByRole("textbox", { name: shows }).waitFor();
    const { data } = await app.call(apiKeys.list_api_keys, {});
    expect(data.filter(({ name }) => name === `Lost at ${section}`)).toHaveLength(1);
    await page.context().close();
  });
});
