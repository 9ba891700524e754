/**
 * Random sequences of everything that can happen to a broadcast: its counts, its recipients and the
 * wallet always agree.
 */
import fc from "fast-check";
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { CallFailure } from "../src/client/index.ts";
import { broadcasts, type ExecutionStatus } from "../tools/broadcasts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { useTestApp } from "./support/app.ts";
import { createBroadcastHelpers, phoneNumbers } from "./support/broadcasts.ts";
import { randomRuns } from "./support/iterations.ts";
import { openPhone, setFaults } from "./support/simulator.ts";
import { createWalletHelpers, setPrices } from "./support/wallet.ts";

const app = useTestApp();
const { approve, create, createCohort, get, recipients } = createBroadcastHelpers(app);
const { read: readWallet } = createWalletHelpers(app);

const numbers = phoneNumbers(4, 425);
let content: { name: string; cohort_id: string; template_id: string };
let people: readonly { id: string }[];

beforeAll(async () => {
  await setPrices(app);
  const created = await createCohort(numbers);
  people = created.people;
  const template = await approve({ name: "random", template_data: { body: "This is random." } });
  content = { name: "Random", cohort_id: created.cohort.id, template_id: template.id };
});

/** To which states each state may change. */
const moves: Readonly<Record<ExecutionStatus, readonly ExecutionStatus[]>> = {
  draft: ["processing", "completed", "cancelled"],
  scheduled: [],
  processing: ["paused", "completed", "cancelled"],
  paused: ["processing", "completed", "cancelled"],
  completed: ["processing"],
  cancelled: ["processing", "completed"],
  failed: [],
};

const actions = {
  execute: (id: string) => app.call(broadcasts.execute_broadcast, { id }),
  pause: (id: string) => app.call(broadcasts.pause_broadcast, { id }),
  resume: (id: string) => app.call(broadcasts.resume_broadcast, { id }),
  cancel: (id: string) => app.call(broadcasts.cancel_broadcast, { id }),
  retryFailed: (id: string) => app.call(broadcasts.retry_broadcast, { id, only_retryable: false }),
  retryPending: (id: string) => app.call(broadcasts.retry_broadcast, { id, scope: "pending" }),
  pass: () => app.advanceTime(100),
  passLong: () => app.advanceTime(2_000),
  fail: () => setFaults(app, { failures: [{ code: 131026, share: 0.5 }], doubled_receipts: 0.5 }),
  heal: () => setFaults(app, {}),
  read: () => openPhone(app, numbers[0] ?? "").read(),
  block: () => app.call(contacts.update_contact, { id: people[1]?.id ?? "", blocked: true }),
  unblock: () => app.call(contacts.update_contact, { id: people[1]?.id ?? "", blocked: false }),
} as const;
type Action = keyof typeof actions;
const names = Object.keys(actions) as Action[]; // the keys of a literal

test("counts, recipients, messages and held money agree after every step", async () => {
  const sequences = fc.array(fc.constantFrom(...names), { minLength: 5, maxLength: 25, size: "max" });
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      const { id } = await create(content);
      await actions.unblock();
      let state: ExecutionStatus = "draft";
      for (const action of ["execute" as const, ...sequence]) {
        await actions[action](id).catch(ignoreState);
        const { execution_status } = await get(id);
        expect([state, ...moves[state]], `${action} after ${state}`).toContain(execution_status);
        state = execution_status;
        await expectAgreement(id);
      }
      await actions.cancel(id).catch(ignoreState);
      await app.advanceTime(10_000);
      await expectAgreement(id);
      expect((await readWallet()).held).toBe(0);
    }),
    // The sequences of this seed have every action.
    randomRuns(3, 20, 25),
  );
}, 120_000);

function ignoreState(error: unknown): void {
  if (!(error instanceof CallFailure) || error.code !== "broadcast_state") {
    throw error;
  }
}

async function expectAgreement(id: string): Promise<void> {
  const { stats, excluded } = await get(id);
  const { pending } = (await app.call(broadcasts.get_broadcast_metrics, { id })).data;
  const { total, sent, delivered, read, failed } = stats;
  expect({ total, isOrdered: read <= delivered && delivered <= sent }).toEqual({
    total: pending + sent + failed,
    isOrdered: true,
  });
  const statuses = (await recipients(id)).map(({ status }) => status);
  const count = (...wanted: string[]) => statuses.filter((status) => wanted.includes(status)).length;
  expect({ total, sent, delivered, read, failed }).toEqual({
    total: statuses.length - count("excluded"),
    sent: count("sent", "delivered", "read"),
    delivered: count("delivered", "read"),
    read: count("read"),
    failed: count("failed"),
  });
  expect(Object.values(excluded).reduce((sum, number) => sum + (number ?? 0), 0)).toBe(count("excluded"));
  const { rows } = await sql<{ held: number }>`
    select (select coalesce(sum((charge ->> 'held')::bigint), 0) from messages)
      + (select coalesce(sum(price), 0) from broadcast_recipients where status = 'pending') as held
  `.execute(app.server.database.queries);
  expect((await readWallet()).held * 1_000_000).toBeCloseTo(Number(rows[0]?.held), 3);
}
