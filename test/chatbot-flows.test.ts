/** What a flow leaves to the chatbot, and which conversations the bot leaves to people. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { flows } from "../tools/flows/index.ts";
import { teams } from "../tools/teams.ts";
import { useTestApp } from "./support/app.ts";
import { createChatbotHelpers, handoffText } from "./support/chatbot.ts";
import { chain, createFlowHelpers, say } from "./support/flows.ts";

const app = useTestApp();
const bot = createChatbotHelpers(app);
const { create } = createFlowHelpers(app);

const hours = "What are your opening hours?";
const answer = "Monday to Friday, 9 to 17.";
const unknown = "Do you sell giraffes?";

beforeAll(async () => {
  await bot.configure();
  await bot.addPair(hours, answer);
});

describe("a flow that every message starts", () => {
  const onMessage = {
    trigger_type: "event" as const,
    trigger_event_type: "message.received" as const,
    trigger_keyword: undefined,
  };

  test("lets it answer the message, and leaves the conversation to people after a hand-off", async () => {
    const phone = "+14155550113";
    const { id } = await create([{ id: "bot", node_type: "chatbot" }], onMessage);
    const conversation = await bot.write(phone, hours);
    await bot.write(phone, unknown);
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual([answer, handoffText]);
    expect(await bot.turnsOf(conversation)).toHaveLength(2);
    await app.call(flows.toggle_flow, { id });
  });

  test("takes no conversation that another flow has given to a team", async () => {
    const phone = "+14155550118";
    const { data: team } = await app.call(teams.create_team, { name: "Billing" });
    const give = { id: "give", node_type: "assign", action_config: { team_id: team.id } } as const;
    await create(chain(say("We will look into it."), give), { trigger_keyword: "refund", priority: 1 });
    const { id } = await create([{ id: "bot", node_type: "chatbot" }], onMessage);
    const conversation = await bot.write(phone, `Refund! ${hours}`);
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual(["We will look into it."]);
    expect(await bot.conversation(conversation)).toMatchObject({ team_id: team.id });
    await app.call(flows.toggle_flow, { id });
  });

  test("and sends nothing leaves the message to the bot that has the conversation", async () => {
    const phone = "+14155550119";
    await create([{ id: "bot", node_type: "chatbot" }], { trigger_keyword: "helper" });
    const { id } = await create(
      [{ id: "tag", node_type: "add_tag", action_config: { tag: "seen" } }],
      onMessage,
    );
    await bot.write(phone, "helper");
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual([answer]);
    await app.call(flows.toggle_flow, { id });
  });
});

describe("the bot answers meanwhile, if a flow", () => {
  const tag = { id: "tag", node_type: "add_tag", action_config: { tag: "seen" } } as const;
  const wait = { id: "wait", node_type: "wait", action_config: { duration: "2d" } } as const;
  const onEachMessage = {
    trigger_type: "event",
    trigger_event_type: "message.received",
    trigger_keyword: undefined,
  } as const;

  beforeAll(() => bot.setInbox(true));
  afterAll(() => bot.setInbox(false));

  test("calls another system and sends nothing", async () => {
    const phone = "+14155550121";
    const call = {
      id: "call",
      node_type: "http_request",
      action_config: { method: "GET", url: "https://orders.invalid" },
    } as const;
    const { id } = await create(chain(call, tag), onEachMessage);
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual([answer]);
    await app.call(flows.toggle_flow, { id });
  });

  test("waits for a time and sends nothing", async () => {
    const phone = "+14155550122";
    const { id } = await create(chain(wait, tag), onEachMessage);
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual([answer]);
    await app.call(flows.toggle_flow, { id });
  });

  test("has got its reply and waits for a time", async () => {
    const phone = "+14155550123";
    const ask = {
      id: "ask",
      node_type: "ask",
      action_config: { text: "Which one?", save_as: "one" },
    } as const;
    const { id } = await create(chain(ask, wait, say("Still happy?")), { trigger_keyword: "order" });
    await bot.write(phone, "order");
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual(["Which one?"]);
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual(["Which one?", answer]);
    await app.call(flows.toggle_flow, { id });
  });
});

test("a flow that gives the conversation to a team ends the part of the bot", async () => {
  const phone = "+14155550120";
  const { data: team } = await app.call(teams.create_team, { name: "Sales" });
  await create([{ id: "bot", node_type: "chatbot" }], { trigger_keyword: "assistant" });
  await create([{ id: "give", node_type: "assign", action_config: { team_id: team.id } }], {
    trigger_keyword: "sales",
  });
  const id = await bot.write(phone, "assistant");
  await bot.write(phone, "sales");
  await bot.write(phone, hours);
  expect(await bot.sentTo(phone)).toEqual([]);
  expect((await bot.contextOf(id)).chatbot).toMatchObject({ state: "ended", reason: "assigned" });
});

test("a flow leaves no keyword to the bot that is the whole message", async () => {
  const { id } = await create([{ id: "bot", node_type: "chatbot" }], { trigger_keyword: "opening, hours" });
  const replyTo = async (text: string, phone: string) => {
    await bot.write(phone, text);
    return bot.sentTo(phone);
  };
  expect(await replyTo(" Hours ", "+14155550114")).toEqual([]);
  expect(await replyTo("Hours of giraffes?", "+14155550115")).toEqual([handoffText]);
  expect(await replyTo(hours, "+14155550116")).toEqual([answer]);
  await app.call(flows.toggle_flow, { id });
});

test("a flow leaves no answer to its question to the bot", async () => {
  const phone = "+14155550117";
  await create(
    chain(
      { id: "mail", node_type: "ask", action_config: { text: "Your e-mail?", save_as: "mail" } },
      { id: "bot", node_type: "chatbot" },
    ),
    { trigger_keyword: "newsletter" },
  );
  await bot.write(phone, "newsletter");
  await bot.write(phone, hours);
  expect(await bot.sentTo(phone)).toEqual(["Your e-mail?"]);
  await bot.write(phone, hours);
  expect(await bot.sentTo(phone)).toEqual(["Your e-mail?", answer]);
});
