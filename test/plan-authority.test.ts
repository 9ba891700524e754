/** A plan and its release do not give a credential more than its calls would. */
import { beforeAll, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { createKey, signPerson, decide, request, send } = createApprovalHelpers(app);
const { draft, deliver, read, textsAt } = createPlanHelpers(app);

const refused = (status: number, code: string) => ({ status, body: { error: { code } } });

let owner = "";
beforeAll(async () => {
  owner = (await signPerson("owner")).token;
});

/** A key of a person that makes keys, bound by rules if there are any. */
async function createKeyMaker(scopes: readonly string[], rules: object | null) {
  const { body } = await request(["POST", "/v1/developer-access/api-keys", { name: "Maker", scopes }], {
    key: owner,
  });
  const { id, secret_key } = body.data;
  await app.call(apiKeys.set_api_key_rules, { id, rules });
  return secret_key;
}

const planOfKey = (scopes: readonly string[]) => ({
  operation: "create_api_key",
  input: { name: "Made", scopes },
});

test("a plan of a key with scopes that the asker lacks is rejected, also as a change", async () => {
  const key = await createKeyMaker(["tokens:create", "contacts:read"], { approve: { configure: true } });
  const wide = planOfKey(["contacts:read", "inbox:write"]);
  expect(await request(["POST", "/v1/plans", wide], { key })).toMatchObject(refused(403, "scope_not_held"));
  const { body } = await request(["POST", "/v1/plans", planOfKey(["contacts:read"])], { key });
  expect(await request(["PUT", `/v1/plans/${body.data.id}`, { input: wide.input }], { key })).toMatchObject(
    refused(403, "scope_not_held"),
  );
  expect((await read(body.data.id)).input).toEqual({ name: "Made", scopes: ["contacts:read"] });
});

test("the secret of a plan that has run is shown to who made and who released it, and to nobody else", async () => {
  const maker = await createKeyMaker(["tokens:create", "contacts:read"], { approve: { configure: true } });
  const other = await createKeyMaker(["tokens:create", "tokens:read"], null);
  const { input } = planOfKey(["contacts:read"]);
  const parked = await request(["POST", "/v1/api-keys", input], { key: maker });
  const { id } = parked.body.data.plan;
  const released = await decide("approve", await read(id), owner);
  const secret = { result: { data: { secret_key: expect.stringContaining("sk_live_") } } };
  expect(released.body.data).toMatchObject(secret);
  const run = (key: string) => request(["POST", `/v1/plans/${id}/run`], { key });
  expect(await run(other)).toMatchObject(refused(409, "plan_state"));
  expect((await run(maker)).body.data).toMatchObject(secret);
  expect((await run(owner)).body.data).toMatchObject(secret);
});

test("a call that waits does not run under its key when its rules are gone", async () => {
  const { key, id } = await createKey({ mode: "approve" });
  const [number, idempotencyKey] = ["+14155558801", "once"];
  const parked = await send(number, "Once", { key, idempotencyKey });
  expect(parked.status).toBe(202);
  await app.call(apiKeys.set_api_key_rules, { id, rules: null });
  expect(await send(number, "Once", { key, idempotencyKey })).toEqual(parked);
  expect(await send(number, "Twice", { key, idempotencyKey })).toMatchObject(
    refused(422, "idempotency_key_reused"),
  );
  const released = await decide("approve", await read(parked.body.data.plan.id), owner);
  expect(await send(number, "Once", { key, idempotencyKey })).toEqual({
    status: 201,
    body: released.body.data.result,
  });
  await deliver();
  expect(await textsAt(number)).toEqual(["Once"]);
});

test("a change of a scheduled broadcast counts as scheduling it", async () => {
  const { id } = await draft(881, 1);
  const scheduled_at = new Date(app.now().getTime() + 3_600_000).toISOString();
  await app.call(broadcasts.update_broadcast, { id, scheduled_at });
  const { key } = await createKey({ approve: { broadcasts: true } });
  const change = (json: object) => request(["PUT", `/v1/broadcasts/${id}`, json], { key });
  const answer = await change({ name: "Changed" });
  expect(answer).toMatchObject(refused(400, "scheduled_at_required"));
  expect(JSON.stringify(answer.body)).toContain(scheduled_at);
  expect((await change({ name: "Changed", scheduled_at })).status).toBe(202);
  // Nothing of it has changed, so it is not bound by the rules of the key.
  await app.advanceTime(3_600_000);
  const { data } = await app.call(broadcasts.get_broadcast, { id });
  expect(data).toMatchObject({ execution_status: "completed", name: "Offer 881" });
  // A draft has no time.
  const other = await draft(882, 1);
  expect((await request(["PUT", `/v1/broadcasts/${other.id}`, { name: "Mine" }], { key })).status).toBe(200);
});

test("a reaction reaches its contact, and its removal nobody", async () => {
  const { conversation_id } = await openPhone(app, "+14155558802").write("Thank you!");
  const [message] = (await app.call(messages.list_messages, { conversation_id })).data;
  const path = `/v1/conversations/${conversation_id}/messages/${message?.id}/reaction`;
  const { key } = await createKey({ approve: { recipients_above: 0 } });
  const parked = await request(["PUT", path, { emoji: "👍" }], { key });
  expect(parked.status).toBe(202);
  expect(await read(parked.body.data.plan.id)).toMatchObject({
    recipient_count: 1,
    samples: [{ to: "+14155558802", text: "👍" }],
  });
  expect((await request(["PUT", path, { emoji: null }], { key })).status).toBe(200);
});
