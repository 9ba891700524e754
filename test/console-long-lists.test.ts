/** Lists of the console that are longer than a page, or change while they are read. */
import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { teams } from "../tools/teams.ts";
import { useTestApp } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { consoleFolder, rowOf, useConsolePages } from "./support/console-pages.ts";
import { expectAccessible } from "./support/expect-accessible.ts";
import { waitUntil } from "./support/served-process.ts";
import { openPhone, writeLater } from "./support/simulator.ts";

const queryOf = (route: Route) => new URL(route.request().url()).searchParams;

describePages(() => {
  const app = useTestApp({ consoleFolder });
  const { openSignedIn } = useConsolePages(() => app.address);

  const write = (number: string, text: string) => writeLater(app, number, text);

  test("the list shows more conversations also if it is being read again", async () => {
    for (let number = 0; number < 35; number += 1) {
      await openPhone(app, `+141555595${number + 10}`).write("Hello");
    }
    const page = await openSignedIn("");
    const rows = page.locator("[data-conversation]");
    await rows.nth(29).waitFor();
    const held: Route[] = [];
    const asked: string[] = [];
    await page.route("**/v1/conversations?*", async (route) => {
      const [number, size] = [queryOf(route).get("page"), queryOf(route).get("per_page")];
      if (size === "30" && number === "1") {
        held.push(route);
      } else {
        asked.push(`${number} of ${size}`);
        await route.continue();
      }
    });
    await write("+14155559510", "Again");
    await waitUntil(async () => held.length > 0);
    await page.getByRole("button", { name: "Show more" }).click();
    await rows.nth(34).waitFor();
    await Promise.all(held.map((route) => route.continue()));
    const id = await write("+14155559511", "And again");
    await rowOf(page, id).getByText("And again").waitFor();
    expect(await rows.count()).toBe(35);
    await expectAccessible(page, "list that is higher than the window");
    expect(asked).not.toContain("2 of 100");
    await page.context().close();
  });

  test("what is typed into the search stays as it is while the list changes", async () => {
    const id = await write("+14155559550", "The first order");
    const page = await openSignedIn("");
    await rowOf(page, id).waitFor();
    const field = page.getByRole("searchbox");
    await field.pressSequentially("order");
    await page.waitForURL(/search=order$/);
    await page.getByRole("link", { name: "The first order" }).waitFor();
    await field.press("Space");
    await Promise.all([
      page.waitForResponse((answer) => answer.url().includes("/v1/conversations?status=open")),
      write("+14155559551", "A new question"),
    ]);
    await page.waitForFunction("document.title.startsWith('(')");
    await field.pressSequentially("47");
    await page.waitForURL(/search=order\+47$/);
    expect(await field.inputValue()).toBe("order 47");
    await page.goBack();
    // A search is one entry of the history, however slowly it is typed.
    await waitUntil(async () => (await field.inputValue()) === "");
    await page.getByRole("combobox", { name: "Show" }).waitFor();
    await page.context().close();
  });

  /** Answers with pages of a list that is longer than what the page shows. */
  const answerFrom = (total: number, item: (number: number) => object) => async (route: Route) => {
    const [page, per_page] = [Number(queryOf(route).get("page")), Number(queryOf(route).get("per_page"))];
    const first = (page - 1) * per_page;
    const length = Math.min(per_page, total - first);
    const data = Array.from({ length }, (_, index) => item(first + index + 1));
    await route.fulfill({ json: { data, meta: { total, page, per_page } } });
  };

  test("the list reads on after its last row is opened, and says that it ends after 500", async () => {
    await write("+14155559555", "Hello");
    const { data } = await app.call(conversations.list_conversations, { per_page: 1 });
    const page = await openSignedIn("activity");
    await page.route(
      /\/v1\/conversations\?.*per_page=(30|100)$/,
      answerFrom(600, (number) => ({ ...data[0], id: `conv_${number}` })),
    );
    await page.getByRole("link", { name: "Inbox" }).click();
    await rowOf(page, "conv_30").click();
    await rowOf(page, "conv_31").waitFor();
    await page.keyboard.press("j");
    await page.waitForURL(/conv_31$/);
    for (const last of [200, 300, 400, 500]) {
      await page.getByRole("button", { name: "Show more" }).click();
      await rowOf(page, `conv_${last}`).waitFor();
    }
    await page.getByText("Only the first 500 are shown. Search, or choose a filter.").waitFor();
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
    await page.context().close();
  });

  test("the list of plans says that it ends after 100", async () => {
    const plan = (number: number) => ({
      id: `plan_${number}`,
      status: "awaiting_approval",
      created_at: "2026-01-01T00:00:00.000Z",
      created_by: { type: "api_key", id: "key_1", name: "Key" },
      summary: `Plan ${number}.`,
      recipient_count: 0,
      price: null,
      input: {},
    });
    const page = await openSignedIn("activity");
    await page.route("**/v1/plans?*", answerFrom(101, plan));
    await page.getByRole("link", { name: "Approvals" }).click();
    for (const last of [50, 75, 100]) {
      await page.getByRole("button", { name: "Show more" }).click();
      await page.locator(`[data-plan=plan_${last}]`).waitFor();
    }
    await page.getByText("Only the newest 100 are shown.").waitFor();
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
    await page.context().close();
  });

  test("the inbox knows all teams and people", async () => {
    for (let number = 1; number <= 101; number += 1) {
      await app.call(teams.create_team, { name: `Team ${number}`, is_active: true });
    }
    const page = await openSignedIn("activity");
    const people = Array.from({ length: 101 }, (_, index) => ({
      id: `usr_${index + 1}`,
      name: `Person ${index + 1}`,
      email: `person${index + 1}@example.com`,
      role: "agent",
      is_active: true,
    }));
    await page.route("**/v1/users?*", async (route) => {
      const number = Number(queryOf(route).get("page") ?? 1);
      const data = people.slice((number - 1) * 100, number * 100);
      await route.fulfill({ json: { data, meta: { total: people.length, page: number, per_page: 100 } } });
    });
    await page.reload();
    await page.locator("option", { hasText: "Person 101" }).waitFor({ state: "attached" });
    const id = await write("+14155559552", "Is anybody there?");
    await page.goto(`${app.address}/console/inbox/${id}`);
    await page.getByRole("button", { name: "Assign" }).click();
    await page.getByRole("button", { name: "Person 101" }).waitFor();
    await page
      .getByRole("button", { name: /^Team (1|101)$/ })
      .nth(1)
      .waitFor();
    await page.context().close();
  });

  test("the page of activity keeps a limited number of acts, and reads on after the last one", async () => {
    let newest = 50;
    const act = (number: number) => ({
      id: `act_${number}`,
      created_at: "2026-01-01T00:00:00.000Z",
      by: { type: "api_key", id: "key_1", name: `Key ${number}.` },
      session_id: null,
      operation: "whoami",
      tool: null,
      arguments: {},
      outcome: "done",
      status: 200,
      error_code: null,
      budget: null,
      duration_ms: 1,
      ids: [],
    });
    const held: Route[] = [];
    let holdsOlder = false;
    const answer = async (route: Route) => {
      const after = queryOf(route).get("after");
      const first = after === null ? newest : Number(after.slice("act_".length)) - 1;
      const data = Array.from({ length: 50 }, (_, index) => act(first - index));
      await route.fulfill({ json: { data, meta: { cursor: data.at(-1)?.id } } });
    };
    const page = await openSignedIn("");
    await page.route("**/v1/activity?*", async (route) => {
      if (holdsOlder && queryOf(route).has("after")) {
        held.push(route);
      } else {
        await answer(route);
      }
    });
    await page.goto(`${app.address}/console/activity`);
    const rows = page.locator("[data-act]");
    const readNames = async () =>
      (await page.locator(".act-by").allTextContents()).map((text) => Number(/Key (\d+)/.exec(text)?.[1]));
    const namesFrom = (first: number, count: number) =>
      Array.from({ length: count }, (_, index) => first - index);
    const arrive = async (count: number) => {
      newest += count;
      await write("+14155559553", "Hello");
      await page.getByText(`Key ${newest}.`).waitFor();
    };
    await rows.nth(49).waitFor();
    for (let times = 0; times < 6; times += 1) {
      await arrive(40);
    }
    expect(await readNames()).toEqual(namesFrom(290, 200));
    await page.getByRole("button", { name: "Show more" }).click();
    await rows.nth(249).waitFor();
    await arrive(10);
    expect(await readNames()).toEqual(namesFrom(300, 250));

    // While older ones are read, so many have happened that the list begins anew.
    holdsOlder = true;
    await page.getByRole("button", { name: "Show more" }).click();
    await waitUntil(async () => held.length > 0);
    await arrive(500);
    expect(await readNames()).toEqual(namesFrom(800, 50));
    await Promise.all(held.map(answer));
    await arrive(1);
    expect(await readNames()).toEqual(namesFrom(801, 51));
    await page.context().close();
  });
});
