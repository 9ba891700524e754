/**
 * Random sequences over two processes with cut connections: askers, releasers and those who change the
 * contact act at once. Only what a person has released arrives, as it was shown and once, and no budget is
 * passed.
 */
import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { plans } from "../tools/plans.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { createBudgetHelpers } from "./support/budgets.ts";
import { cutConnections } from "./support/cut-connections.ts";
import { lendTestDatabase } from "./support/database.ts";
import { randomRuns } from "./support/iterations.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { trustedProxyEnv } from "./support/users.ts";

// The embedded database has one process.

const options = randomRuns(12, 250);
const budget = Math.round(options.numRuns * 0.8);

/** What a person or a program does while the plan waits. */
const steps = [
  "approve",
  "decline",
  "run",
  "amend",
  "withdraw",
  "rename",
  "block",
  "optOut",
  "erase",
] as const;
const sequence = fc.record({
  steps: fc.array(
    fc.tuple(fc.constantFrom("approve" as const, "approve" as const, ...steps), fc.constantFrom(0, 1)),
    { minLength: 1, maxLength: 6 },
  ),
  cuts: fc.constantFrom(0, 0, 1, 3),
});

interface Shown {
  readonly id: string;
  readonly hash: string;
  readonly contact_id: string;
}

/** The steps of one process. The persons of the two processes differ. */
function openProcess(app: TestApp, key: string) {
  const { decide, request, signPerson } = createBudgetHelpers(app);
  const changeContact = (change: object) => (shown: Shown) =>
    app.call(contacts.update_contact, { id: shown.contact_id, ...change });
  const decideAs = (step: "approve" | "decline", token: string) => async (shown: Shown) =>
    (await decide(step, shown, token)).status;
  const acts = (token: string): Record<(typeof steps)[number], (shown: Shown) => Promise<unknown>> => ({
    approve: decideAs("approve", token),
    decline: decideAs("decline", token),
    run: async ({ id }) => (await request(["POST", `/v1/plans/${id}/run`], { key })).status,
    amend: async ({ id }) =>
      (await request(["PUT", `/v1/plans/${id}`, { input: { text: { body: "Not shown" } } }], { key })).status,
    withdraw: ({ id }) => app.call(plans.withdraw_plan, { id }, { key }),
    rename: changeContact({ name: "Renamed" }),
    block: changeContact({ blocked: true }),
    optOut: changeContact({ opted_out: true }),
    erase: ({ contact_id }) => app.call(contacts.delete_contact, { id: contact_id }),
  });
  return { sign: async () => acts((await signPerson()).token) };
}

async function countMessages(app: TestApp, numbers: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from messages where "to" like ${numbers}
  `.execute(app.server.database.queries);
  return rows[0]?.count ?? 0;
}

test("of plans that wait, only released ones arrive, as they were shown, and once", {
  tags: "postgres",
  timeout: 60_000 + options.numRuns * 2_000,
}, async () => {
  await using database = await lendTestDatabase();
  await using one = await startTestApp({ database, env: trustedProxyEnv });
  await using two = await startTestApp({ database, env: trustedProxyEnv, startsAt: one.now() });
  const { createKey, createBudgetedKey, send, useOf } = createBudgetHelpers(one);
  const { deliver, read, textsAt } = createPlanHelpers(one);
  const { key: bound } = await createKey({ mode: "approve" });
  const spending = await createBudgetedKey({ messages: { day: budget } });
  const processes = [openProcess(one, bound), openProcess(two, bound)];
  const counts = { released: 0, declined: 0, kept: 0, accepted: 0, waiting: 0 };
  let number = 0;
  let acts = await Promise.all(processes.map(({ sign }) => sign()));

  const sendWithinBudget = async (app: TestApp, to: string) => {
    const answer = await createBudgetHelpers(app)
      .send(to, "Within the budget", { key: spending.key })
      .catch(() => undefined);
    counts.accepted += answer?.status === 201 ? 1 : 0;
    counts.waiting += answer?.status === 202 ? 1 : 0;
    if (answer?.status === 202) {
      await one.call(plans.withdraw_plan, { id: answer.body.data.plan.id }).catch(() => undefined);
    }
  };

  await fc.assert(
    fc.asyncProperty(sequence, async ({ steps: drawn, cuts }) => {
      number += 1;
      if (number % 100 === 0) {
        acts = await Promise.all(processes.map(({ sign }) => sign()));
      }
      const to = `+1415558${String(number).padStart(4, "0")}`;
      const { id: contact_id } = (await one.call(contacts.create_contact, { phone_number: to })).data;
      const held = await send(to, "Shown", { key: bound });
      expect(held.status).toBe(202);
      const { id, hash } = await read(held.body.data.plan.id);
      const attempts = drawn.map(async ([step, process]) => ({
        step,
        status: await acts[process]?.[step]({ id, hash, contact_id }),
      }));
      const others = [one, two].map((app, index) =>
        sendWithinBudget(app, `+1416${index}${String(number).padStart(6, "2")}`),
      );
      const cutting = Array.from({ length: cuts }, () => cutConnections(one));
      await Promise.allSettled([...attempts, ...others, ...cutting]);
      const settled = (await Promise.allSettled(attempts)).flatMap((attempt) =>
        attempt.status === "fulfilled" ? [attempt.value] : [],
      );
      const hasStep = (name: string) => drawn.some(([step]) => step === name);
      const succeeded = (name: string) => settled.some(({ step, status }) => step === name && status === 200);
      await deliver();

      const received = await textsAt(to);
      expect(received).toEqual(received.slice(0, 1).map(() => "Shown"));
      if (!hasStep("approve") || succeeded("decline")) {
        expect(received).toEqual([]);
      }
      if (succeeded("approve")) {
        expect(succeeded("decline")).toBe(false);
        if (!hasStep("erase") && !hasStep("block") && !hasStep("optOut")) {
          expect(received).toEqual(["Shown"]);
        }
      }
      counts.released += received.length;
      counts.declined += succeeded("decline") ? 1 : 0;
      counts.kept += received.length === 0 ? 1 : 0;
      await one.call(plans.withdraw_plan, { id }).catch(() => undefined);
    }),
    {
      ...options,
      examples: [[{ steps: [["approve", 0]], cuts: 0 }], [{ steps: [["decline", 1]], cuts: 0 }]],
    },
  );

  const spent = await countMessages(one, "+1416%");
  expect(spent).toBeLessThanOrEqual(budget);
  expect(spent).toBeGreaterThanOrEqual(counts.accepted);
  expect((await useOf(spending.id))?.messages.day.used).toBe(spent);
  expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([]);
});
