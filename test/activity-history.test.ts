/** The history of a message: the call behind it, the reasons, and what became of it. */
import { beforeAll, expect, test } from "vitest";
import { activity } from "../tools/activity.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { messages } from "../tools/messages/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { connectAssistant } from "./support/assistant.ts";
import { createChatbotHelpers } from "./support/chatbot.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createFlowHelpers, say } from "./support/flows.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone, setFaults } from "./support/simulator.ts";
import { price, setPrices } from "./support/wallet.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";

const app = useTestApp({ env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" } });
const { deliver, draft, planBroadcast, planSend, run } = createPlanHelpers(app);
const bot = createChatbotHelpers(app);
const flows = createFlowHelpers(app);

beforeAll(() => setPrices(app));

const explain = async (id: string, key = ownerKey) =>
  (await app.call(activity.explain_message, { id }, { key })).data;

/** The latest message of a conversation that the organization sent. */
async function latestSent(conversation_id: string) {
  const { data } = await app.call(messages.list_messages, { conversation_id });
  return data.filter(({ direction }) => direction === "outbound")[0]?.id ?? "";
}

const none = { broadcast: null, flow: null, bot: null, plan: null, routing: null };

test("a message that an assistant sent shows its call, receipts, webhooks and money", async () => {
  await using receiver = await startWebhookReceiver();
  const created = await app.call(webhooks.create_webhook, {
    url: receiver.url,
    events: ["message.sent", "message.delivered"],
  });
  receiver.secret = created.data.signing_secret;
  const key = (
    await app.call(apiKeys.create_api_key, {
      name: "Assistant",
      scopes: ["inbox:read", "inbox:write", "contacts:read"],
    })
  ).data;
  await using assistant = await connectAssistant(app, key.secret_key);
  const to = "+14155553001";
  const { data: sent } = await assistant.call("send_message", { to, body: "Hello" });
  await app.advanceTime(5_000);
  const history = await explain(sent.id);
  expect(history).toMatchObject({
    message: {
      id: sent.id,
      direction: "outbound",
      status: "delivered",
      sent_by: { type: "api_key", id: key.id, name: "Assistant", tool: "send_message" },
      error: null,
    },
    contact_id: sent.contact.id,
    call: {
      operation: "send_message",
      tool: "send_message",
      by: { type: "api_key", id: key.id, name: "Assistant" },
      outcome: "done",
    },
    reasons: none,
    attempts: { refused: 0, last_error: null, channel_message_id: expect.any(String) },
    receipts: [{ type: "sent" }, { type: "delivered" }],
    money: [
      { type: "charge", amount: price, simulated: true },
      { type: "hold", amount: price, simulated: true },
    ],
  });
  expect(history.webhooks).toMatchObject(
    ["message.sent", "message.delivered"].map((type) => ({
      type,
      webhook_id: created.data.id,
      url: receiver.url,
      status: "delivered",
      attempt_count: 1,
      last_status_code: 200,
    })),
  );
  // The key that sent it may not read what others did.
  expect(await explain(sent.id, key.secret_key)).toMatchObject({ call: null, webhooks: null });
});

test("a message that the channel refused shows the attempts and the failure", async () => {
  const to = "+14155553002";
  await setFaults(app, { failures: [{ code: 131026, to }] });
  const { data } = await app.call(messages.send_message, { to, type: "text", text: { body: "Hello" } });
  await app.advanceTime(5_000);
  await setFaults(app, {});
  const { message, receipts, money } = await explain(data.id);
  expect(message).toMatchObject({ status: "failed", error: { channel_code: 131026 } });
  expect(receipts).toMatchObject([{ type: "failed", error: { channel_code: 131026 } }]);
  expect(money.map(({ type }) => type)).toEqual(["release", "hold"]);
});

test("a message of a plan, and one of a planned broadcast, show the plan", async () => {
  const plan = await planSend("+14155553003", "Your order is here.");
  const { result } = await run(plan.id);
  const { id } = (result as { data: { id: string } }).data;
  expect(await explain(id)).toMatchObject({
    call: { operation: "run_plan" },
    reasons: { ...none, plan: { id: plan.id, summary: plan.summary } },
  });

  const offer = await draft(428, 2);
  const ofBroadcast = await planBroadcast(offer.id);
  await run(ofBroadcast.id);
  await deliver();
  const { data } = await app.call(broadcasts.list_broadcast_recipients, { id: offer.id });
  expect(await explain(data[0]?.message_id ?? "")).toMatchObject({
    call: { operation: "run_plan" },
    reasons: { ...none, broadcast: { id: offer.id, name: "Offer 428" }, plan: { id: ofBroadcast.id } },
    receipts: [{ type: "sent" }, { type: "delivered" }],
  });
});

test("a message shows the call that sent it, and none that only refers to it", async () => {
  const number = "+14155553007";
  const { message_id: inbound } = await openPhone(app, number).write("Hello");
  const answer = (body: string, reply_to: string) =>
    app.call(messages.send_message, { to: number, type: "text", text: { body }, reply_to });
  await app.advanceTime(1_000);
  const { data: first } = await answer("Yes?", inbound);
  await app.advanceTime(1_000);
  await answer("Still there?", first.id);
  expect((await explain(first.id)).call).toMatchObject({ ids: expect.arrayContaining([inbound, first.id]) });
  expect((await explain(inbound)).call).toBeNull();

  const { id, numbers } = await draft(429, 1);
  const plan = await planBroadcast(id);
  await run(plan.id);
  await deliver();
  const { data } = await app.call(broadcasts.list_broadcast_recipients, { id });
  const ofBroadcast = data[0]?.message_id ?? "";
  await openPhone(app, numbers[0] ?? "").write("Hello");
  await app.call(messages.send_message, {
    to: numbers[0] ?? "",
    type: "text",
    text: { body: "About the offer" },
    reply_to: ofBroadcast,
  });
  expect((await explain(ofBroadcast)).call).toMatchObject({ operation: "run_plan" });
});

test("a message of a flow shows the run and the step", async () => {
  const flow = await flows.create([say("Hello there!", "greeting")], { trigger_keyword: "greet" });
  const { conversation_id } = await openPhone(app, "+14155553004").write("greet me");
  await app.advanceTime(1_000);
  await app.advanceTime(1_000);
  const [ran] = await flows.runsOf(conversation_id);
  const { message, reasons, call } = await explain(await latestSent(conversation_id));
  expect(call).toBeNull();
  expect(message.sent_by).toEqual({ type: "flow", id: flow.id, name: "Flow", node_id: "greeting" });
  expect(reasons.flow).toEqual({
    flow_id: flow.id,
    run_id: ran?.id,
    trigger_type: "keyword",
    node_id: "greeting",
    node_type: "send_message",
  });
});

test("an answer of the chatbot shows its turn and its sources", async () => {
  await bot.configure();
  await bot.setInbox(true);
  await bot.addPair("Do you sell gift cards?", "Yes, at the till.");
  const conversation_id = await bot.write("+14155553005", "Do you sell gift cards?");
  await app.advanceTime(2_000);
  const { message, reasons } = await explain(await latestSent(conversation_id));
  expect(message.sent_by).toMatchObject({ type: "bot", sources: ["Do you sell gift cards?"] });
  const [turn] = await bot.turnsOf(conversation_id);
  expect(reasons.bot).toMatchObject({
    turn_id: turn?.id,
    sources: [{ type: "qa_pair", question: "Do you sell gift cards?" }],
  });
});

test("a message that does not exist is not found", async () => {
  const id = "msg_01m7zc7d7bf9qbkz12jfyy9z78";
  expect(await expectFailure(app.call(activity.explain_message, { id }))).toMatchObject({
    status: 404,
    code: "message_not_found",
  });
});
