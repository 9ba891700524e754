/** Two processes send at once within one budget: exactly what it allows is accepted, also if they die. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { startTestApp, type TestApp } from "./support/app.ts";
import { createBudgetHelpers } from "./support/budgets.ts";
import { lendTestDatabase } from "./support/database.ts";

// The embedded database has one process.

const options = { tags: "postgres", timeout: 180_000 };

/** Sends to as many persons, by the two apps in turn. */
async function sendAll(
  apps: readonly [TestApp, TestApp],
  { key, count, area }: { readonly key: string; readonly count: number; readonly area: number },
) {
  const senders = apps.map((app) => createBudgetHelpers(app).send);
  const calls = Array.from({ length: count }, async (_, index) => {
    const number = `+1${area}555${String(1000 + index)}`;
    const answer = await senders[index % 2]?.(number, "Hi", { key }).catch(() => undefined);
    return answer?.status ?? 0;
  });
  const statuses = await Promise.all(calls);
  return (status: number) => statuses.filter((one) => one === status).length;
}

async function countMessages(app: TestApp, area: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from messages where "to" like ${`+1${area}%`}
  `.execute(app.server.database.queries);
  return rows[0]?.count ?? 0;
}

async function useApps(
  work: (one: TestApp, two: TestApp, helpers: ReturnType<typeof createBudgetHelpers>) => Promise<void>,
): Promise<void> {
  await using database = await lendTestDatabase();
  const startsAt = new Date("2026-06-01T10:00:00Z");
  await using one = await startTestApp({ database, startsAt });
  await using two = await startTestApp({ database, startsAt });
  await work(one, two, createBudgetHelpers(one));
}

test("of 200 messages at once with a budget of 50, 50 are accepted and 150 are refused", options, () =>
  useApps(async (one, two, { createBudgetedKey, useOf }) => {
    const { key, id } = await createBudgetedKey({ messages: { day: 50 }, beyond: "refuse" });
    const answered = await sendAll([one, two], { key, count: 200, area: 701 });
    expect([answered(201), answered(403)]).toEqual([50, 150]);
    expect(await countMessages(one, 701)).toBe(50);
    expect(await useOf(id)).toMatchObject({
      messages: { day: { used: 50 }, month: { used: 50 } },
      new_contacts: { day: { used: 50 } },
    });
  }),
);

test("of 120 messages at once with a budget of 50, 50 are accepted and 70 wait", options, () =>
  useApps(async (one, two, { createBudgetedKey }) => {
    const { key } = await createBudgetedKey({ messages: { month: 50 } });
    const answered = await sendAll([one, two], { key, count: 120, area: 702 });
    expect([answered(201), answered(202)]).toEqual([50, 70]);
    expect(await countMessages(one, 702)).toBe(50);
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from plans where approval = 'awaiting'
    `.execute(one.server.database.queries);
    expect(rows).toEqual([{ count: 70 }]);
  }),
);

test("two budgets of two keys and one of the organization are exact together", options, () =>
  useApps(async (one, two, { createBudgetedKey, setOrganizationBudgets, useOf, useOfOrganization }) => {
    await setOrganizationBudgets({ messages: { day: 60 }, beyond: "refuse" });
    const [first, second] = [
      await createBudgetedKey({ messages: { day: 40 }, beyond: "refuse" }),
      await createBudgetedKey({ new_contacts: { day: 40 }, beyond: "refuse" }),
    ];
    const [ofFirst, ofSecond] = await Promise.all([
      sendAll([one, two], { key: first.key, count: 60, area: 703 }),
      sendAll([two, one], { key: second.key, count: 60, area: 704 }),
    ]);
    expect(ofFirst(201) + ofSecond(201)).toBe(60);
    expect(ofFirst(403) + ofSecond(403)).toBe(60);
    expect((await useOfOrganization())?.messages.day.used).toBe(60);
    expect((await useOf(first.id))?.messages.day.used).toBe(ofFirst(201));
    expect((await useOf(second.id))?.new_contacts.day.used).toBe(ofSecond(201));
    expect(ofFirst(201)).toBeLessThanOrEqual(40);
    expect(ofSecond(201)).toBeLessThanOrEqual(40);
  }),
);

test("a transaction that dies counts nothing: what is used is what was stored", options, () =>
  useApps(async (one, two, { createBudgetedKey, useOf }) => {
    const { key, id } = await createBudgetedKey({ messages: { day: 1_000 } });
    const cut = () =>
      sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and query ilike '%budget_uses%'
      `.execute(one.server.database.queries);
    let isDone = false;
    const cutAll = async () => {
      while (!isDone) {
        await cut().catch(() => undefined);
      }
    };
    const sendThem = async () => {
      const counts = await sendAll([one, two], { key, count: 150, area: 705 });
      isDone = true;
      return counts;
    };
    const [answered] = await Promise.all([sendThem(), cutAll()]);
    expect(answered(201)).toBeLessThan(150);
    const stored = await countMessages(one, 705);
    expect((await useOf(id))?.messages.day.used).toBe(stored);
  }),
);
