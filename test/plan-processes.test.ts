/**
 * Two processes run plans at once, while their connections are cut and the contacts change: what ran is what
 * was shown, and nothing ran twice.
 */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { plans } from "../tools/plans.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { cutConnections } from "./support/cut-connections.ts";
import { lendTestDatabase } from "./support/database.ts";
import { iterations } from "./support/iterations.ts";
import { createPlanHelpers } from "./support/plans.ts";

// The embedded database has one process.

const sequences = iterations(12, 60);

/** What else happens to the contact while its plan runs. */
const changes = {
  nothing: async () => {},
  rename: (app: TestApp, id: string) => app.call(contacts.update_contact, { id, name: "Renamed" }),
  block: (app: TestApp, id: string) => app.call(contacts.update_contact, { id, blocked: true }),
  erase: (app: TestApp, id: string) => app.call(contacts.delete_contact, { id }),
} as const;
const kinds = Object.values(changes);

test("of runs in two processes with cut connections, one takes effect or none", {
  tags: "postgres",
  timeout: 60_000 + sequences * 2_000,
}, async () => {
  await using database = await lendTestDatabase();
  await using one = await startTestApp({ database });
  await using two = await startTestApp({ database, startsAt: one.now() });
  const { planSend, deliver, textsAt } = createPlanHelpers(one);
  const outcomes = { run: 0, kept: 0 };
  for (let sequence = 0; sequence < sequences; sequence += 1) {
    const number = `+1415557${String(sequence).padStart(4, "0")}`;
    const text = `Message ${sequence}`;
    const { id: contact_id } = (await one.call(contacts.create_contact, { phone_number: number })).data;
    const { id } = await planSend(number, text);
    const change = kinds[sequence % kinds.length] ?? changes.nothing;
    const run = (index: number) => (index % 2 === 0 ? one : two).call(plans.run_plan, { id });
    const first = [0, 1, 2, 3].map(run);
    // Some begin when others have ended, which may have changed the plan.
    const later = first.slice(0, 2).map((attempt, index) =>
      attempt.then(
        () => run(index),
        () => run(index),
      ),
    );
    const attempts = [...first, ...later];
    const cuts = sequence % 2 === 0 ? [] : [cutConnections(one), cutConnections(one)];
    await Promise.allSettled([...attempts, change(two, contact_id), ...cuts]);
    const answers = (await Promise.allSettled(attempts)).flatMap((answer) =>
      answer.status === "fulfilled" ? [JSON.stringify(answer.value.data.result)] : [],
    );
    expect(new Set(answers).size).toBeLessThanOrEqual(1);
    const { rows } = await sql<{ status: string }>`select status from plans where id = ${id}`.execute(
      one.server.database.queries,
    );
    const sent = await sql<{ id: string }>`
      select messages.id from messages join conversations
        on conversations.organization_id = messages.organization_id and conversations.id = messages.conversation_id
      where conversations.contact_id = ${contact_id}
    `.execute(one.server.database.queries);
    const [plan] = rows;
    if (plan) {
      expect(sent.rows).toHaveLength(plan.status === "run" ? 1 : 0);
    } else {
      expect(sent.rows.length).toBeLessThanOrEqual(1);
    }
    if (plan?.status === "ready") {
      // An open plan counts towards the limit of the key.
      await one.call(plans.withdraw_plan, { id });
    }
    outcomes[sent.rows.length === 1 ? "run" : "kept"] += 1;
    await deliver();
    const received = await textsAt(number);
    expect(received.length).toBeLessThanOrEqual(sent.rows.length);
    expect(received.filter((one) => one !== text)).toEqual([]);
  }
  expect(outcomes.run).toBeGreaterThan(0);
});
