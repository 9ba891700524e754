/** When budgets renew: at midnight in the organization's time zone, also where the clocks change. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { organization } from "../tools/organization.ts";
import { startTestApp } from "./support/app.ts";
import { createBudgetHelpers } from "./support/budgets.ts";

interface Zone {
  readonly time_zone: string;
  /** Shortly before a midnight there. */
  readonly startsAt: string;
  readonly day: string;
  readonly nextDay: string;
  readonly month: string;
}

const zones: readonly (readonly [string, Zone])[] = [
  [
    "a day of 23 hours, which ends an hour earlier in UTC",
    {
      time_zone: "Europe/Madrid",
      startsAt: "2026-03-28T22:59:00Z",
      day: "2026-03-28T23:00:00.000Z",
      nextDay: "2026-03-29T22:00:00.000Z",
      month: "2026-03-31T22:00:00.000Z",
    },
  ],
  [
    "a day of 25 hours, which ends an hour later in UTC",
    {
      time_zone: "Europe/Madrid",
      startsAt: "2026-10-24T21:59:00Z",
      day: "2026-10-24T22:00:00.000Z",
      nextDay: "2026-10-25T23:00:00.000Z",
      month: "2026-10-31T23:00:00.000Z",
    },
  ],
  [
    "a day whose midnight is skipped, which begins at one o'clock",
    {
      time_zone: "America/Santiago",
      startsAt: "2026-09-06T03:59:00Z",
      day: "2026-09-06T04:00:00.000Z",
      nextDay: "2026-09-07T03:00:00.000Z",
      month: "2026-10-01T03:00:00.000Z",
    },
  ],
  [
    "the end of a year, ahead of UTC",
    {
      time_zone: "Pacific/Auckland",
      startsAt: "2026-12-31T10:59:00Z",
      day: "2026-12-31T11:00:00.000Z",
      nextDay: "2027-01-01T11:00:00.000Z",
      month: "2026-12-31T11:00:00.000Z",
    },
  ],
];

test.each(zones)("a budget renews at the midnight of %s", async (_, zone) => {
  await using app = await startTestApp({ startsAt: new Date(zone.startsAt) });
  const { createBudgetedKey, send, useOf } = createBudgetHelpers(app);
  await app.call(organization.update_organization, { time_zone: zone.time_zone });
  const { key, id } = await createBudgetedKey({ messages: { day: 1, month: 100 } });
  const sendOne = async () => (await send("+14155558101", "Hi", { key })).status;
  expect([await sendOne(), await sendOne()]).toEqual([201, 202]);
  expect((await useOf(id))?.messages).toMatchObject({
    day: { used: 1, renews_at: zone.day },
    month: { used: 1, renews_at: zone.month },
  });
  // A second before the midnight the day is the same.
  await app.advanceTime(59_000);
  expect(await sendOne()).toBe(202);
  await app.advanceTime(Date.parse(zone.day) - app.now().getTime());
  expect([await sendOne(), await sendOne()]).toEqual([201, 202]);
  const isNewMonth = zone.month === zone.day;
  expect((await useOf(id))?.messages).toMatchObject({
    day: { used: 1, renews_at: zone.nextDay },
    month: { used: isNewMonth ? 1 : 2 },
  });
});

test("a month's budget renews with the month", async () => {
  await using app = await startTestApp({ startsAt: new Date("2026-02-28T23:59:00Z") });
  const { createBudgetedKey, send } = createBudgetHelpers(app);
  const { key } = await createBudgetedKey({ messages: { month: 1 } });
  const sendOne = async () => (await send("+14155558102", "Hi", { key })).status;
  expect([await sendOne(), await sendOne()]).toEqual([201, 202]);
  await app.advanceTime(60_000);
  expect([await sendOne(), await sendOne()]).toEqual([201, 202]);
});

test("counts are deleted two days after their period", async () => {
  const { rules } = modules;
  await using app = await startTestApp({ startsAt: new Date("2026-06-29T10:00:00Z") });
  const { createBudgetedKey, send, useOf } = createBudgetHelpers(app);
  const { key, id } = await createBudgetedKey({ messages: { day: 5, month: 5 } });
  await send("+14155558103", "Hi", { key });
  const periods = async () => {
    const { rows } = await sql<{ period: string }>`
      select period from budget_uses where holder = ${id} order by period
    `.execute(app.server.database.queries);
    return rows.map(({ period }) => period);
  };
  expect(rules?.jobs.map(({ name }) => name)).toEqual(["budget.forget"]);
  const day = 24 * 3_600_000;
  await app.advanceTime(day);
  expect(await periods()).toEqual(["2026-06", "2026-06-29"]);
  await app.advanceTime(2 * day);
  expect(await periods()).toEqual(["2026-06"]);
  await app.advanceTime(day);
  expect(await periods()).toEqual([]);
  expect((await useOf(id))?.messages.month).toMatchObject({ used: 0 });
  await app.call(apiKeys.delete_api_key, { id });
});
