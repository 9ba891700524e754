/** The chatbot add-on over 90 days, against a table that was written by hand. */
import { beforeAll, expect, test } from "vitest";
import { useTestApp } from "./support/app.ts";
import { createAddonTenant } from "./support/chatbot-addon.ts";
import { modulesWithRareUpkeep } from "./support/rare-upkeep.ts";
import { createWorldProbe } from "./support/world.ts";

const dayMs = 24 * 3_600_000;
const { probe, readWorld } = createWorldProbe();
const app = useTestApp({
  enabledModules: { ...modulesWithRareUpkeep("billing"), probe },
  env: { TIDINGS_WALLET: "block" },
  // The last day of a month: the periods end on February 28, March 31 and April 30.
  startsAt: new Date("2027-01-31T10:00:00.000Z"),
});
let tenant: Awaited<ReturnType<typeof createAddonTenant>>;
const answers = (count: number) => tenant.answers(count);

/** A unit costs 0.10 USD, a month 3 USD. */
const actions = {
  "pay in 5.00 and subscribe": async () => {
    await tenant.add(5);
    await tenant.subscribe(0.1, 3);
  },
  "60 answers": () => answers(60),
  "40 answers": () => answers(40),
  "12 answers": () => answers(12),
  "8 answers": () => answers(8),
  "5 answers": () => answers(5),
  "4 answers": () => answers(4),
  "3 answers": () => answers(3),
  "2 answers": () => answers(2),
  "an answer is rejected": () => expect(answers(1)).rejects.toMatchObject({ code: "insufficient_funds" }),
  "an answer is not counted": async () => expect(await answers(1)).toBe(0),
  "pay in 0.10": () => tenant.add(0.1),
  "pay in 1.00": () => tenant.add(1),
  "pay in 5.00": () => tenant.add(5),
  cancel: () => tenant.cancel(),
  nothing: async () => {},
} as const;

const table: readonly (readonly [
  day: number,
  action: keyof typeof actions,
  status: string,
  trial: number,
  available: number,
  billed: string | null,
  grace: string | null,
])[] = [
  [0, "pay in 5.00 and subscribe", "trialing", 100, 5, "2027-02-28", null],
  [10, "60 answers", "trialing", 40, 5, "2027-02-28", null],
  // The trial ends within a period whose fee is never charged.
  [20, "40 answers", "active", 0, 5, "2027-02-28", null],
  [21, "12 answers", "active", 0, 3.8, "2027-02-28", null],
  [27, "nothing", "active", 0, 3.8, "2027-02-28", null],
  // The first fee.
  [28, "nothing", "active", 0, 0.8, "2027-03-31", null],
  [30, "8 answers", "active", 0, 0, "2027-03-31", null],
  // The wallet is empty: the answers are given, and owed.
  [31, "3 answers", "grace", 0, -0.3, "2027-03-31", "2027-03-10"],
  [35, "5 answers", "grace", 0, -0.8, "2027-03-31", "2027-03-10"],
  [36, "pay in 1.00", "active", 0, 0.2, "2027-03-31", null],
  [37, "4 answers", "grace", 0, -0.2, "2027-03-31", "2027-03-16"],
  [43, "nothing", "grace", 0, -0.2, "2027-03-31", "2027-03-16"],
  [44, "an answer is rejected", "suspended", 0, -0.2, "2027-03-31", "2027-03-16"],
  // Less than it owes.
  [50, "pay in 0.10", "suspended", 0, -0.1, "2027-03-31", "2027-03-16"],
  // The fee of this period was charged on its first day.
  [51, "pay in 5.00", "active", 0, 4.9, "2027-03-31", null],
  [58, "nothing", "active", 0, 4.9, "2027-03-31", null],
  [59, "nothing", "active", 0, 1.9, "2027-04-30", null],
  [60, "cancel", "cancelled", 0, 1.9, null, null],
  [62, "2 answers", "cancelled", 0, 1.7, null, null],
  [88, "2 answers", "cancelled", 0, 1.5, null, null],
  [89, "an answer is not counted", "cancelled", 0, 1.5, null, null],
  [90, "nothing", "cancelled", 0, 1.5, null, null],
];

beforeAll(async () => {
  tenant = await createAddonTenant(app, readWorld);
});

test("90 days of trial, use, an empty wallet, grace, suspension, top-ups and cancellation", async () => {
  let day = 0;
  for (const row of table) {
    const [dayOfRow, action] = row;
    for (; day < dayOfRow; day += 1) {
      await app.advanceTime(dayMs);
    }
    await actions[action]();
    const addon = await tenant.read();
    const found = [
      addon.status,
      addon.trial_units_remaining,
      (await tenant.readWallet()).available,
      dateOf(addon.next_billing_date),
      dateOf(addon.grace_ends_at),
    ];
    expect([dayOfRow, action, ...found]).toEqual(row);
  }
  expect(dateOf((await tenant.read()).ends_at)).toBe("2027-04-30");
  expect((await tenant.listEntries("fee")).map(({ amount }) => amount)).toEqual([3, 3]);
  // 12 + 8 + 3 + 5 + 4 + 2 + 2 beyond the trial.
  expect((await tenant.listEntries("usage")).map(({ amount }) => amount)).toEqual(Array(36).fill(0.1));
  expect(await tenant.readWallet()).toMatchObject({ spent: 9.6, balance: 1.5, held: 0 });
});

function dateOf(time: string | null): string | null {
  return time?.slice(0, 10) ?? null;
}
