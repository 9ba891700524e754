/** Chatbot add-ons in the database under random sequences, compared with the pure states. */
import { expect, test } from "vitest";
import {
  type AddonAccount,
  cancelAddon,
  isUsable,
  passTime,
  periodEnd,
  startAddon,
  useUnit,
} from "../src/platform/money/billing/addon-states.ts";
import { useTestApp } from "./support/app.ts";
import { createAddonTenant } from "./support/chatbot-addon.ts";
import { iterations } from "./support/iterations.ts";
import { modulesWithRareUpkeep } from "./support/rare-upkeep.ts";
import { createWorldProbe } from "./support/world.ts";

const dayMs = 24 * 3_600_000;
const [tenants, rounds] = [iterations(8, 24), 12];
const prices = { costPerUnit: 250_000, monthlyFee: 2_000_000 };

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({
  enabledModules: { ...modulesWithRareUpkeep("billing"), probe },
  env: { TIDINGS_WALLET: "block" },
  // The months of the periods, and so the states that are seen, depend on it.
  startsAt: new Date("2027-01-31T10:00:00.000Z"),
});

type Tenant = Awaited<ReturnType<typeof createAddonTenant>>;

test("24 random sequences have the states and balances of the model", async () => {
  const random = createRandom();
  const runs: { tenant: Tenant; account: AddonAccount }[] = [];
  for (let index = 0; index < tenants; index += 1) {
    const tenant = await createAddonTenant(app, readWorld);
    await tenant.subscribe(0.25, 2);
    // All but three units of the trial.
    await app.server.database.queries
      .updateTable("chatbot_addons")
      .set({ trial_units_remaining: 3 })
      .where("organization_id", "=", tenant.id)
      .execute();
    const state = { ...startAddon(app.now(), { hasTrial: true }), trialUnits: 3 };
    runs.push({ tenant, account: { state, prices, available: 0, charges: [] } });
  }
  const seen = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    for (const run of runs) {
      run.account = await act(run.tenant, run.account, random(20));
    }
    await app.advanceTime((random(12) + 0.5) * dayMs);
    for (const run of runs) {
      run.account = passTime(run.account, app.now());
      seen.add(run.account.state.status);
      expect(await readState(run.tenant)).toEqual(stateOf(run.account));
    }
  }
  expect([...seen].sort()).toEqual(["active", "cancelled", "grace", "suspended", "trialing"]);
});

/** Does the same to the add-on and to its model. */
async function act(tenant: Tenant, account: AddonAccount, choice: number): Promise<AddonAccount> {
  const now = app.now();
  if (choice < 10) {
    const isAllowed = isUsable(account.state, now);
    const hasEnded = account.state.endsAt !== null && now >= account.state.endsAt;
    const counted = await tenant.answer().catch(() => "rejected");
    expect(counted).toBe(hasEnded ? false : isAllowed || "rejected");
    return isAllowed ? useUnit(account, now) : account;
  }
  if (choice < 16) {
    await tenant.add(choice - 12.5);
    const credited = { ...account, available: account.available + (choice - 12.5) * 1_000_000 };
    return choice < 13 ? credited : passTime(credited, now);
  }
  if (choice === 16 && account.state.status !== "cancelled") {
    await tenant.cancel();
    return { ...account, state: cancelAddon(account.state) };
  }
  return account;
}

async function readState(tenant: Tenant) {
  const { status, trial_units_remaining, next_billing_date, grace_ends_at, ends_at } = await tenant.read();
  const { available } = await tenant.readWallet();
  return { status, trial_units_remaining, next_billing_date, grace_ends_at, ends_at, available };
}

function stateOf({ state, available }: AddonAccount): Awaited<ReturnType<typeof readState>> {
  return {
    status: state.status,
    trial_units_remaining: state.trialUnits,
    next_billing_date: state.endsAt === null ? periodEnd(state).toISOString() : null,
    grace_ends_at: state.graceEndsAt?.toISOString() ?? null,
    ends_at: state.endsAt?.toISOString() ?? null,
    available: available / 1_000_000,
  };
}

/** Whole numbers below a limit, the same in each run. */
function createRandom(): (limit: number) => number {
  let seed = 7;
  return (limit) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * limit);
  };
}
