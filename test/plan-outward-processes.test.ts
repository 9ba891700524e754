/**
 * Two processes run plans of calls to a third party at once, while their connections are cut: no call is made
 * twice, and each plan ends with what the third party knows.
 */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import { plans } from "../tools/plans.ts";
import { startTestApp } from "./support/app.ts";
import { cutConnections } from "./support/cut-connections.ts";
import { lendTestDatabase } from "./support/database.ts";
import { iterations } from "./support/iterations.ts";
import { createOrders } from "./support/orders.ts";
import { createPlanHelpers } from "./support/plans.ts";

// The embedded database has one process.

const sequences = iterations(12, 60);

test("of runs in two processes with cut connections, one calls or none", {
  tags: "postgres",
  timeout: 60_000 + sequences * 2_000,
}, async () => {
  const { orders, module } = createOrders();
  const enabledModules = { ...modules, orders: module };
  await using database = await lendTestDatabase();
  await using one = await startTestApp({ database, enabledModules });
  await using two = await startTestApp({ database, enabledModules, startsAt: one.now() });
  const { plan, read } = createPlanHelpers(one);
  const reached = new Set<string>();
  orders.call = async (name) => {
    reached.add(name);
    await sql`select pg_sleep(0.01)`.execute(one.server.database.queries).catch(() => undefined);
    return { id: `order ${name}` };
  };
  orders.find = async (name) => (reached.has(name) ? { id: `order ${name}` } : undefined);
  const outcomes: Record<string, number> = {};
  for (let sequence = 0; sequence < sequences; sequence += 1) {
    const name = `order-${sequence}`;
    const { id } = await plan({ operation: "create_order", input: { name } });
    const attempts = Array.from({ length: 6 }, (_, index) =>
      (index % 2 === 0 ? one : two).call(plans.run_plan, { id }),
    );
    const cuts = sequence % 3 === 0 ? [] : [cutConnections(one), cutConnections(two), cutConnections(one)];
    await Promise.allSettled([...attempts, ...cuts]);
    const answers = (await Promise.allSettled(attempts)).flatMap((answer) =>
      answer.status === "fulfilled" ? [JSON.stringify(answer.value.data.result)] : [],
    );
    expect(new Set(answers).size).toBeLessThanOrEqual(1);
    await one.server.database.queries
      .updateTable("plans")
      .set({ running_until: new Date(one.now().getTime() - 1).toISOString() })
      .where("running_until", "is not", null)
      .execute();
    // Both processes look for abandoned runs at the same time.
    await Promise.all([one.advanceTime(60_000), two.advanceTime(60_000)]);
    const { status } = await read(id);
    expect(orders.countCalls(name)).toBeLessThanOrEqual(1);
    expect(["run", "failed", "ready"]).toContain(status);
    expect(status === "run").toBe(reached.has(name));
    if (status === "ready") {
      await one.call(plans.withdraw_plan, { id });
    }
    outcomes[status] = (outcomes[status] ?? 0) + 1;
  }
  expect(outcomes.run).toBeGreaterThan(0);
});
