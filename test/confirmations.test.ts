/** The mode `confirm` of rules: the user of an MCP client confirms each call, or a person releases it. */

import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createClient } from "../src/client/index.ts";
import { serveOverStdio } from "../src/mcp/stdio/index.ts";
import { activity } from "../tools/activity.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import { plans } from "../tools/plans.ts";
import { silentLog, useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { connectAssistant } from "./support/assistant.ts";
import { type AskingClient, askingClients, type ToolAnswer } from "./support/confirmations.ts";
import { say } from "./support/flows.ts";
import { clientInfo } from "./support/mcp-clients.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { waitUntil } from "./support/served-process.ts";
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
      `Input: ${JSON.stringify({ type: "text", to: number(1), text: { body: 'Say "hi"' } })}`,
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
      "A signed-in person releases the plan with POST /v1/plans/{id}/approve. run_plan asks the user of the client again.",
    ]);
    const { id, status } = planIn(result);
    expect(status).toBe("awaiting_approval");
    expect(await received(number(3))).toEqual([]);
    client.answer = "accept";
    const run = await client.call("run_plan", { id });
    expect(run).toMatchObject({
      structuredContent: { data: { plan: { id, status: "run" }, result: { data: { to: number(3) } } } },
    });
    const { shape } = plans.run_plan.output.shape.data.shape.plan;
    expect(Object.keys(planIn(run)).filter((field) => !(field in shape))).toEqual([]);
    expect(client.questions.splice(0)).toHaveLength(2);
    expect(await received(number(3))).toEqual(["Later"]);
  });
});

test("a call that is cancelled while its user is asked waits, also if the user accepts later", async () => {
  const { key, id: by } = await createKey({ mode: "confirm" });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const client = createClient({ baseUrl: app.address, key });
  const connection = serveOverStdio({ client, version: "0.0.0", log: silentLog, stdin, stdout });
  const printed: { id?: number; method?: string; params?: object }[] = [];
  createInterface(stdout).on("line", (line) => printed.push(JSON.parse(line)));
  const write = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const find = (method: string) => printed.find((message) => message.method === method);
  const params = { protocolVersion: "2025-06-18", capabilities: { elicitation: {} }, clientInfo };
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  write({ id: 1, method: "initialize", params });
  const call = { name: "send_message", arguments: { to: "+14157101012", body: "Late" } };
  write({ id: 2, method: "tools/call", params: { ...call, _meta: { progressToken: "asking" } } });
  await waitUntil(() => find("elicitation/create") !== undefined);
  vi.advanceTimersByTime(5_000);
  await waitUntil(() => find("notifications/progress") !== undefined);
  vi.useRealTimers();
  expect(find("notifications/progress")?.params).toEqual({
    progressToken: "asking",
    progress: 5,
    total: 600,
    message: "Waiting: 595 s left",
  });
  const question = find("elicitation/create")?.id;
  write({ method: "notifications/cancelled", params: { requestId: 2 } });
  await expect.poll(() => find("notifications/cancelled")?.params).toMatchObject({ requestId: question });
  write({ id: question, result: { action: "accept", content: {} } });
  const answers = async () =>
    (await app.call(activity.list_activity, { by, operation: "confirm_plan" })).data.map(
      (act) => act.arguments?.answer,
    );
  await expect.poll(answers).toEqual(["cancel"]);
  const { data } = await app.call(plans.list_plans, { per_page: 1 });
  expect(data).toMatchObject([{ status: "awaiting_approval", created_by: { id: by } }]);
  expect(await received("+14157101012")).toEqual([]);
  await connection.close();
  await client.close();
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

test("the user sees the input of a call, and the whole text of a message", async () => {
  const { key } = await createKey({ mode: "confirm" });
  await using client = await connectHttp(app, key);
  client.answer = "decline";
  const body = `${"a".repeat(4_000)} the end`;
  const buttons = [{ id: "yes", title: "Yes" }];
  await client.call("send_message", { to: "+14157101009", body });
  await client.call("send_interactive_message", { to: "+14157101009", body: "Sure?", buttons });
  const { data: contact } = await app.call(contacts.create_contact, { phone_number: "+14157101010" });
  await client.call("delete_contact", { id: contact.id });
  const [long, interactive, deletion] = client.questions;
  expect(long).toContain(`\n- +14157101009: ${JSON.stringify(body)}\n`);
  expect(interactive).toContain('"title":"Yes"');
  expect(deletion?.split("\n")[1]).toBe(`Input: ${JSON.stringify({ id: contact.id })}`);
});

test("an input that is longer than a message is shown in part", async () => {
  const { key } = await createKey({ mode: "confirm" });
  await using client = await connectHttp(app, key);
  client.answer = "decline";
  const metadata = { note: `line\n${"b".repeat(9_000)}` };
  await client.call("create_contact", { phone_number: "+14157101011", metadata });
  const line = client.questions[0]?.split("\n")[1] ?? "";
  expect(line).toContain('"note":"line\\nbbb');
  expect(line).toMatch(/b… \(1\d\d\d more characters\)$/);
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
  const clients = [
    {},
    // Of 2025: over HTTP the server can't send it a request.
    { capabilities: { elicitation: { form: {} } } },
    { versionNegotiation: { mode: { pin: "2026-07-28" as const } } },
  ];
  for (const options of clients) {
    await using assistant = await connectAssistant(app, key, options);
    const call = { name: "send_message", arguments: { to: "+14157101003", body: "No" } };
    const result = (await assistant.client.callTool(call)) as unknown as ToolAnswer;
    expect(textsOf(result)[0]).toBe("Nothing was sent: it waits for a person.");
    expect(textsOf(result)[1]).toBe(
      "This connection can't ask its user: tell the user to release the plan in the console.",
    );
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
