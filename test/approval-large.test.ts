/** A broadcast to more contacts than one transaction freezes, under a rule: exactly those get it. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { createKey, signPerson, decide, request } = createApprovalHelpers(app);
const { compare, countAtChannel, deliver, draftMany, read } = createPlanHelpers(app);

const size = 1_050;

/** The numbers to which the channel has sent, each as often as it has. */
async function numbersAtChannel(prefix: string) {
  await deliver();
  const { rows } = await sql<{ phone_number: string }>`
    select phone_number from simulator_messages
    where direction = 'outbound' and phone_number like ${`${prefix}%`} order by phone_number
  `.execute(app.server.database.queries);
  return rows.map(({ phone_number }) => phone_number);
}

/** A broadcast that a key has executed, whose plan waits for a person. */
async function parkLarge(area: number) {
  const { id, cohort } = await draftMany(size, area);
  const { key } = await createKey({ mode: "approve" });
  const execute = ["POST", `/v1/broadcasts/${id}/execute`, {}] as const;
  const idempotent = { key, idempotencyKey: `large-${area}` };
  const parked = await request(execute, idempotent);
  expect(parked).toMatchObject({ status: 202, body: { data: { plan: { status: "preparing" } } } });
  const plan_id = parked.body.data.plan.id;
  await app.runDueJobs();
  expect(await read(plan_id)).toMatchObject({ status: "awaiting_approval", recipient_count: size });
  return { id, cohort, plan_id, repeat: () => request(execute, idempotent) };
}

test("a large broadcast under a rule is prepared, waits, is released, and reaches exactly those it showed", async () => {
  const { id, cohort, plan_id, repeat } = await parkLarge(630);
  expect(await countAtChannel()).toBe(0);
  const shown = await read(plan_id);
  const { planned } = await compare(plan_id, id);
  expect(planned).toHaveLength(size);
  // Who joins the cohort after that gets nothing.
  const { value } = cohort.query as { readonly value: readonly string[] };
  await app.call(contacts.create_contact, { phone_number: "+16309990001", tags: [...value] });
  const { token } = await signPerson();
  expect((await decide("approve", shown, token)).status).toBe(200);
  const { sent } = await compare(plan_id, id);
  expect(sent).toEqual(planned);
  expect(await numbersAtChannel("+1630")).toEqual(planned.map(({ to }) => to).sort());
  expect(await repeat()).toMatchObject({ status: 200, body: { data: { id, recipient_count: size } } });
  expect(await countAtChannel()).toBe(size);
});

test("a large broadcast that a person declines reaches nobody", async () => {
  const before = await countAtChannel();
  const { plan_id } = await parkLarge(631);
  const { token } = await signPerson();
  expect((await decide("decline", await read(plan_id), token)).status).toBe(200);
  expect((await decide("approve", await read(plan_id), token)).status).toBe(409);
  expect(await countAtChannel()).toBe(before);
});
