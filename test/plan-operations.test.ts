/** Which operations have plans, and the plans of tests, replays and recoveries. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Operation } from "../tools/contract/index.ts";
import { catalogue } from "../tools/index.ts";
import { operationsWithoutRecipients } from "../tools/rules.ts";
import { useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";
import { trustedProxyEnv } from "./support/users.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./support/webhook-receiver.ts";

const app = useTestApp({ env: { ...trustedProxyEnv, TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" } });
const { createKey, signPerson, decide, request } = createApprovalHelpers(app);
const { deliver, draft, plan, read, run, textsAt } = createPlanHelpers(app);

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver[Symbol.asyncDispose]());

/** Why an operation that changes or sends something has no plan. */
const exceptions: Readonly<Record<string, string>> = {
  upload_file: "It receives a file, and sends nothing: whatever sends the file is planned.",
  call_mcp_tool: "The tool that it calls is planned.",
};

test("every write and every call to another service has a plan, or is an exception with its reason", async () => {
  const changing = Object.entries<Operation>(catalogue).filter(
    ([, { effect, credential, path }]) =>
      effect !== "read" &&
      effect !== "public" &&
      // A signed-in person makes the call, and a key can't.
      credential === "any" &&
      !path.startsWith("/v1/plans") &&
      path !== "/v1/mcp/tools",
  );
  const unplanned: string[] = [];
  for (const [operation] of changing) {
    const outcome = await plan({ operation, input: {} }).then(
      () => "planned",
      ({ code }: { readonly code?: string }) => code,
    );
    if (outcome === "operation_not_planned") {
      unplanned.push(operation);
    }
  }
  expect(changing.length).toBeGreaterThan(70);
  expect(unplanned.sort()).toEqual(Object.keys(exceptions).sort());
});

test("operations of which it is said that they reach nobody send no message", () => {
  const scopes = operationsWithoutRecipients.map((name) => {
    const { scope, path } = catalogue[name as keyof typeof catalogue];
    return `${scope} ${path.split("/")[2]}`;
  });
  expect(new Set(scopes)).toEqual(
    new Set(["inbox:write knowledge-base", "tokens:create webhook-subscriptions"]),
  );
});

test("a test of a broadcast shows its text, and is sent as it was shown", async () => {
  const { id, numbers } = await draft(820, 2);
  const [to = ""] = numbers;
  const made = await plan({ operation: "test_broadcast", input: { id, to } });
  expect(made).toMatchObject({
    recipient_count: 1,
    summary: expect.stringMatching(/^Test the broadcast Offer 820: Send a message to "Ann/),
    samples: [{ to, text: "Hello Ann, we have an offer." }],
  });
  const { result } = await run(made.id);
  expect(result).toMatchObject({ data: { message_id: expect.any(String) } });
  await deliver();
  expect(await textsAt(to)).toHaveLength(1);
  const changed = await plan({ operation: "test_broadcast", input: { id, to } });
  await app.call(catalogue.update_broadcast, { id, variable_mapping: { "1": { value: "you" } } });
  expect(await expectFailure(run(changed.id))).toMatchObject({ code: "plan_changed" });
  expect(await textsAt(to)).toHaveLength(1);
});

test("a test of a broadcast waits for a person, and reaches a number that the rules allow", async () => {
  const { id } = await draft(821, 1);
  const { key } = await createKey({ mode: "approve", allow: { countries: ["ES"] } });
  const call = (to: string) => request(["POST", `/v1/broadcasts/${id}/test`, { to }], { key });
  expect(await call("+14155559001")).toMatchObject({ status: 403 });
  const parked = await call("+34600009001");
  expect(parked.status).toBe(202);
  const shown = await read(parked.body.data.plan.id);
  expect(shown.samples).toMatchObject([{ text: "Hello [1], we have an offer." }]);
  const { token } = await signPerson();
  expect((await decide("approve", shown, token)).status).toBe(200);
  await deliver();
  expect(await textsAt("+34600009001")).toHaveLength(1);
});

test("a test of a broadcast to one person needs nobody if the rules hold back larger ones alone", async () => {
  const { id, numbers } = await draft(822, 1);
  const { key } = await createKey({ approve: { recipients_above: 1 } });
  const to = numbers[0] ?? "";
  expect((await request(["POST", `/v1/broadcasts/${id}/test`, { to }], { key })).status).toBe(201);
  const strict = await createKey({ approve: { recipients_above: 0 } });
  expect((await request(["POST", `/v1/broadcasts/${id}/test`, { to }], strict)).status).toBe(202);
});

test("a test of a broadcast beyond a budget waits for a person", async () => {
  const { id, numbers } = await draft(823, 1);
  const { key } = await createKey({ budgets: { messages: { day: 0 } } });
  const parked = await request(["POST", `/v1/broadcasts/${id}/test`, { to: numbers[0] ?? "" }], { key });
  expect(parked.status).toBe(202);
  await deliver();
  expect(await textsAt(numbers[0] ?? "")).toEqual([]);
});

test("a replay and a recovery of webhook deliveries are planned, held back and run once", async () => {
  const events = ["message.received"] as const;
  const { data } = await app.call(catalogue.create_webhook, { url: receiver.url, events: [...events] });
  receiver.secret = data.signing_secret;
  await openPhone(app, "+14155559002").write("Hello");
  await app.runDueJobs();
  expect(receiver.received).toHaveLength(1);
  const { data: deliveries } = await app.call(catalogue.list_webhook_deliveries, { id: data.id });
  const delivery_id = deliveries[0]?.id ?? "";
  const input = { id: data.id, delivery_id };
  const made = await plan({ operation: "replay_webhook_delivery", input });
  await app.runDueJobs();
  expect(receiver.received).toHaveLength(1);
  await Promise.all([run(made.id), run(made.id)]);
  await app.runDueJobs();
  expect(receiver.received).toHaveLength(2);
  const { token } = await signPerson("owner");
  const parent = { name: "Webhooks", scopes: ["tokens:create", "tokens:read"] };
  const key = await request(["POST", "/v1/developer-access/api-keys", parent], { key: token });
  const { id, secret_key } = key.body.data;
  await app.call(catalogue.set_api_key_rules, { id, rules: { approve: { configure: true } } });
  const since = new Date(app.now().getTime() - 3_600_000).toISOString();
  const recover = ["POST", `/v1/webhook-subscriptions/${data.id}/recover`, { since }] as const;
  const parked = await request(recover, { key: secret_key });
  expect(parked).toMatchObject({
    status: 202,
    body: { data: { plan: { why: ["it changes what acts later"] } } },
  });
  expect((await decide("approve", await read(parked.body.data.plan.id), token)).status).toBe(200);
  const unknown = ["POST", `/v1/webhook-subscriptions/${data.id}/deliveries/evt_none/replay`] as const;
  expect((await request(unknown, { key: secret_key })).status).toBe(404);
});
