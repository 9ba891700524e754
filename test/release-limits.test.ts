/** Limits of what the persons of a role may release. */
import { beforeAll, expect, test } from "vitest";
import { useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { say } from "./support/flows.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { createKey, signPerson, decide, request, send } = createApprovalHelpers(app);
const { deliver, draft, read, textsAt } = createPlanHelpers(app);

let key = "";
let owner = "";
let admin = "";
beforeAll(async () => {
  ({ key } = await createKey({ mode: "approve" }));
  owner = (await signPerson("owner")).token;
  admin = (await signPerson("admin")).token;
});

const limit = (release_limits: object | null, token = owner) =>
  request(["PUT", "/v1/rules", { release_limits }], { key: token });

const reached = (reason: string) => ({
  status: 403,
  body: { error: { code: "release_limit_reached", message: expect.stringContaining(reason) } },
});

async function parkBroadcast(area: number, count: number) {
  const { id, numbers } = await draft(area, count);
  const { body } = await request(["POST", `/v1/broadcasts/${id}/execute`], { key });
  return { shown: await read(body.data.plan.id), numbers };
}

test("only an owner sets the limits", async () => {
  expect(await limit({ admin: { recipients: 2 } }, admin)).toMatchObject({
    status: 403,
    body: { error: { code: "release_limits_by_owner" } },
  });
  expect(await limit({ admin: { recipients: 2 } })).toMatchObject({
    status: 200,
    body: { data: { release_limits: { admin: { recipients: 2 } } } },
  });
});

test("an admin releases up to the limit of recipients, and an owner everything", async () => {
  await limit({ admin: { recipients: 2 } });
  const few = await parkBroadcast(751, 2);
  expect((await decide("approve", few.shown, admin)).status).toBe(200);
  const many = await parkBroadcast(752, 3);
  expect(await decide("approve", many.shown, admin)).toMatchObject(reached("more than 2 people"));
  await deliver();
  expect((await Promise.all(many.numbers.map(textsAt))).flat()).toEqual([]);
  expect((await decide("approve", many.shown, owner)).status).toBe(200);
});

test("an admin declines what is beyond the limit", async () => {
  await limit({ admin: { recipients: 0 } });
  const { body } = await send("+14157531001", "No", { key });
  expect((await decide("decline", await read(body.data.plan.id), admin)).status).toBe(200);
});

test("the price is limited too", async () => {
  await limit({ admin: { amount: 0 } });
  const { shown } = await parkBroadcast(754, 1);
  expect(await decide("approve", shown, admin)).toMatchObject(reached("cost more than 0"));
  await limit(null);
  expect((await decide("approve", shown, admin)).status).toBe(200);
});

test("whom a schedule reaches, and at what price, is not known, so a limit of the price holds it too", async () => {
  await limit({ admin: { amount: 100 } });
  const { id } = await draft(756, 1);
  const scheduled_at = new Date(app.now().getTime() + 3_600_000).toISOString();
  const { body } = await request(["PUT", `/v1/broadcasts/${id}`, { scheduled_at }], { key });
  const shown = await read(body.data.plan.id);
  expect(await decide("approve", shown, admin)).toMatchObject(reached("it is not known yet whom it reaches"));
  expect((await decide("approve", shown, owner)).status).toBe(200);
});

test("whom a flow with a schedule reaches is not known, so a role with a limit neither saves nor enables it", async () => {
  await limit({ admin: { recipients: 100 } });
  const { cohort } = await draft(757, 1);
  const flow = {
    name: "Later",
    end_action_type: "none",
    trigger_type: "schedule",
    trigger_schedule_at: new Date(app.now().getTime() + 3_600_000).toISOString(),
    settings: { cohort_id: cohort.id },
    nodes: [say("An offer")],
  };
  const unknown = reached("it is not known yet whom it reaches");
  const park = async (...call: readonly [method: string, path: string, json: object]) =>
    read((await request(call, { key })).body.data.plan.id);
  const saved = await park("POST", "/v1/automation/flows", flow);
  expect(await decide("approve", saved, admin)).toMatchObject(unknown);
  const { body } = await decide("approve", saved, owner);
  const path = `/v1/automation/flows/${(body.data.result as { data: { id: string } }).data.id}`;
  const changed = await park("PUT", path, { nodes: [say("Another offer")] });
  expect(await decide("approve", changed, admin)).toMatchObject(unknown);
  // What leaves it disabled starts nothing.
  const disabled = await park("PATCH", `${path}/toggle`, {});
  expect((await decide("approve", disabled, admin)).status).toBe(200);
  const renamed = await park("PUT", path, { name: "Much later" });
  expect((await decide("approve", renamed, admin)).status).toBe(200);
  const enabled = await park("PATCH", `${path}/toggle`, {});
  expect(await decide("approve", enabled, admin)).toMatchObject(unknown);
});

test("a limit that is set between a release and its time counts", async () => {
  await limit(null);
  const number = "+14157551001";
  const { body } = await send(number, "Later", { key });
  const shown = await read(body.data.plan.id);
  const run_at = new Date(app.now().getTime() + 3_600_000).toISOString();
  const json = { hash: shown.hash, run_at };
  expect((await request(["POST", `/v1/plans/${shown.id}/approve`, json], { key: admin })).status).toBe(200);
  await limit({ admin: { recipients: 0 } });
  await app.advanceTime(3_600_000);
  await app.runDueJobs();
  await deliver();
  expect(await textsAt(number)).toEqual([]);
  expect(await read(shown.id)).toMatchObject({
    status: "awaiting_approval",
    error: { code: "release_limit_reached" },
  });
});
