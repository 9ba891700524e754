/** The mode `confirm` of rules: the user of an MCP client confirms each call, or a person releases it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { plans } from "../tools/plans.ts";
import { useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { connectAssistant } from "./support/assistant.ts";
import { type AskingClient, askingClients, type ToolAnswer } from "./support/confirmations.ts";
import { say } from "./support/flows.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const { createKey, signPerson, decide, request, send } = createApprovalHelpers(app);
const { deliver, draft, read, textsAt } = createPlanHelpers(app);

async function received(number: string) {
  await deliver();
  return textsAt(number);
}

const [[, connectHttp]] = askingClients;

const textsOf = ({ content }: ToolAnswer) => content.map(({ text }) => text);
const planIn = ({ structuredContent }: ToolAnswer) =>
  (structuredContent as { data: { plan: { id: string; status: string } } }).data.plan;

describe.each(askingClients)("a client of %s", (name, connect) => {
  const area = 700 + askingClients.findIndex(([other]) => other === name);
  const number = (last: number) => `+1415${area}${1000 + last}`;

  let client: AskingClient;
  beforeAll(async () => {
    client = await connect(app, (await createKey({ mode: "confirm" })).key);
  });
  afterAll(() => client[Symbol.asyncDispose]());

  test("asks its user with what the call would do, and answers the operation's own result", async () => {
    const result = await client.call("send_message", { to: number(1), body: 'Say "hi"' });
    expect(result).toMatchObject({ structuredContent: { data: { to: number(1), status: "queued" } } });
    const { data } = await app.call(plans.list_plans, { per_page: 1 });
    expect(data).toMatchObject([{ status: "run", decision_reason: "Confirmed by the user of the client" }]);
    const [plan] = data;
    const lines = [
      `An assistant wants to: ${plan?.summary}.`,
      "Recipients: 1.",
      `Price: ${plan?.price?.amount} USD.`,
      `- ${number(1)}: "Say \\"hi\\""`,
      "Warning: outside_service_window.",
      "It can't be undone.",
      `Do you confirm it? The plan expires at ${plan?.expires_at}.`,
    ];
    expect(client.questions.splice(0)).toEqual([lines.join("\n")]);
    expect(await received(number(1))).toEqual(['Say "hi"']);
  });

  test("sends nothing that its user declines", async () => {
    client.answer = "decline";
    const result = await client.call("send_message", { to: number(2), body: "No" });
    expect(textsOf(result)[0]).toBe("Nothing was sent: the user declined it.");
    expect(planIn(result).status).toBe("declined");
    expect(client.questions.splice(0)).toHaveLength(1);
    expect(await received(number(2))).toEqual([]);
  });

  test("answers the plan that waits if its user cancels, and asks again with run_plan", async () => {
    client.answer = "cancel";
    const result = await client.call("send_message", { to: number(3), body: "Later" });
    expect(textsOf(result).slice(0, 2)).toEqual([
      "Nothing was sent: it waits for a person.",
      expect.stringContaining("run_plan"),
    ]);
    const { id, status } = planIn(result);
    expect(status).toBe("awaiting_approval");
    expect(await received(number(3))).toEqual([]);
    client.answer = "accept";
    const run = await client.call("run_plan", { id });
    expect(run).toMatchObject({
      structuredContent: { data: { plan: { id, status: "run" }, result: { data: { to: number(3) } } } },
    });
    expect(client.questions.splice(0)).toHaveLength(2);
    expect(await received(number(3))).toEqual(["Later"]);
  });
});

test("through the gateway, the user is asked too", async () => {
  const { key } = await createKey({ mode: "confirm" });
  await using client = await connectHttp(app, key);
  const call = { name: "send_message", arguments: { to: "+14157101001", body: "Gateway" } };
  const result = await client.call("run_write_tool", call);
  expect(result).toMatchObject({ structuredContent: { data: { to: "+14157101001" } } });
  expect(client.questions).toHaveLength(1);
  expect(await received("+14157101001")).toEqual(["Gateway"]);
});

test("a broadcast is confirmed with its count and its first recipients", async () => {
  const { id, numbers } = await draft(711, 4);
  const { key } = await createKey({ mode: "confirm" });
  await using client = await connectHttp(app, key);
  const result = await client.call("execute_broadcast", { id });
  expect(result).toMatchObject({ structuredContent: { data: { id } } });
  expect(client.questions[0]).toContain("Recipients: 4.");
  expect(client.questions[0]?.match(/^- "Ann" \+1.*: "Hello Ann, we have an offer."$/gm)).toHaveLength(3);
  await deliver();
  const texts = await Promise.all(numbers.map(textsAt));
  expect(texts.map(({ length }) => length)).toEqual([1, 1, 1, 1]);
});

test("a client is not asked what a person has to release", async () => {
  const person = await createKey({ mode: "approve" });
  const many = await createKey({ mode: "confirm", approve: { recipients_above: 0 } });
  for (const { key } of [person, many]) {
    await using client = await connectHttp(app, key);
    const result = await client.call("send_message", { to: "+14157101002", body: "No" });
    expect(textsOf(result)[0]).toBe("Nothing was sent: it waits for a person.");
    expect(client.questions).toEqual([]);
  }
  expect(await received("+14157101002")).toEqual([]);
});

test("a client that can't ask gets the plan that waits", async () => {
  const { key } = await createKey({ mode: "confirm" });
  const clients = [{}, { versionNegotiation: { mode: { pin: "2026-07-28" as const } } }];
  for (const options of clients) {
    await using assistant = await connectAssistant(app, key, options);
    const call = { name: "send_message", arguments: { to: "+14157101003", body: "No" } };
    const result = (await assistant.client.callTool(call)) as unknown as ToolAnswer;
    expect(textsOf(result)[0]).toBe("Nothing was sent: it waits for a person.");
    expect(planIn(result)).toMatchObject({ status: "awaiting_approval", confirmable: true });
  }
  expect(await received("+14157101003")).toEqual([]);
});

test("over REST the call waits for a person: its key can't run it", async () => {
  const number = "+14157101004";
  const { key } = await createKey({ mode: "confirm" });
  const { status, body } = await send(number, "Waits", { key });
  expect(status).toBe(202);
  expect(body.data.plan).toMatchObject({
    status: "awaiting_approval",
    why: ["the user of the client confirms every call"],
    confirmable: true,
  });
  const { id } = body.data.plan;
  expect((await request(["POST", `/v1/plans/${id}/run`], { key })).status).toBe(202);
  expect(await received(number)).toEqual([]);
  const { token } = await signPerson();
  expect((await decide("approve", await read(id), token)).status).toBe(200);
  expect(await received(number)).toEqual(["Waits"]);
});

test("a test of a broadcast waits for the user too", async () => {
  const { id } = await draft(712, 1);
  const { key } = await createKey({ mode: "confirm" });
  const answer = await request(["POST", `/v1/broadcasts/${id}/test`, { to: "+14157101005" }], { key });
  expect(answer).toMatchObject({
    status: 202,
    body: { data: { plan: { status: "awaiting_approval", confirmable: true } } },
  });
  expect(await received("+14157101005")).toEqual([]);
});

test("budgets hold back what the user has confirmed", async () => {
  const { key } = await createKey({ mode: "confirm", budgets: { messages: { day: 0 } } });
  await using client = await connectHttp(app, key);
  const result = await client.call("send_message", { to: "+14157101006", body: "No" });
  expect(client.questions).toHaveLength(1);
  expect(planIn(result)).toMatchObject({ status: "awaiting_approval", confirmable: false });
  expect(await received("+14157101006")).toEqual([]);
});

test("a key that a key makes can be stricter, and not looser", async () => {
  const scopes = ["inbox:write", "contacts:write", "tokens:create", "tokens:read"];
  const { token } = await signPerson("owner");
  const made = await request(["POST", "/v1/developer-access/api-keys", { name: "Maker", scopes }], {
    key: token,
  });
  const maker = made.body.data;
  const makeKey = async () => {
    const json = { name: "Made", scopes: ["inbox:write", "contacts:write"] };
    return (await request(["POST", "/v1/api-keys", json], { key: maker.secret_key })).body.data;
  };
  const [looser, stricter] = [await makeKey(), await makeKey()];
  await app.call(apiKeys.set_api_key_rules, { id: maker.id, rules: { mode: "confirm" } });
  await app.call(apiKeys.set_api_key_rules, { id: looser.id, rules: { mode: "plan" } });
  await app.call(apiKeys.set_api_key_rules, { id: stricter.id, rules: { mode: "approve" } });
  const confirmableOf = async (key: string) => (await send("+14157101007", "No", { key })).body.data.plan;
  expect(await confirmableOf(looser.secret_key)).toMatchObject({ confirmable: true });
  expect(await confirmableOf(stricter.secret_key)).toMatchObject({ confirmable: false });
});

test("a flow saved by a key of this mode sends nothing: nobody confirms its messages", async () => {
  const saver = await createKey({});
  const flow = {
    name: "Greeting",
    end_action_type: "none",
    trigger_type: "keyword",
    trigger_keyword: "greeting",
    nodes: [say("Hello")],
  };
  expect((await request(["POST", "/v1/automation/flows", flow], saver)).status).toBe(201);
  await app.call(apiKeys.set_api_key_rules, { id: saver.id, rules: { mode: "confirm" } });
  await openPhone(app, "+14157101008").write("greeting");
  expect(await received("+14157101008")).toEqual([]);
});
