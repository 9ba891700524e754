/** A customer is served by a flow, then by the chatbot from a PDF file, and then by a person. */
import { beforeAll, describe, expect, test } from "vitest";
import { inboxes } from "../../tools/inboxes.ts";
import { knowledgeBase } from "../../tools/knowledge-base/index.ts";
import { messages } from "../../tools/messages/index.ts";
import { routing } from "../../tools/routing.ts";
import { teams } from "../../tools/teams.ts";
import { uploads } from "../../tools/uploads.ts";
import { useTestApp } from "../support/app.ts";
import { createChatbotHelpers } from "../support/chatbot.ts";
import { chain, createFlowHelpers, say } from "../support/flows.ts";
import { createPdf } from "../support/pdf.ts";
import { openPhone } from "../support/simulator.ts";
import { type CreatedTeam, createTeamWithMembers } from "../support/teams.ts";

const app = useTestApp();
const bot = createChatbotHelpers(app);
const { create, runsOf } = createFlowHelpers(app);

const known = "How long may I return a canoe?";
const knownAnswer = "A canoe may be returned within 30 days of the purchase.";
const unknown = "May a canoe be returned in Portugal?";
const goodbye = "I am getting somebody for you.";
const day = 24 * 60 * 60_000;

let desk: CreatedTeam;
let experts: CreatedTeam;

/** Hands over what it can't answer; to the team, or to the agent that routing finds. */
const configure = (team_id?: string) =>
  bot.configure({
    graph_definition: {
      entry_point: "answer",
      nodes: [
        { id: "answer", type: "llm" },
        { id: "person", type: "handoff", config: { text: goodbye, ...(team_id && { team_id }) } },
      ],
      edges: [{ source: "answer", target: "person", condition: "not_answered" }],
    },
  });

beforeAll(async () => {
  desk = await createTeamWithMembers(app, { name: "Desk", tier: 1 }, { Ada: {} });
  experts = await createTeamWithMembers(app, { name: "Experts", tier: 2 }, { Eve: {} });
  await app.call(routing.create_routing_policy, {
    name: "Experts",
    strategy: "round_robin",
    target_type: "team",
    target_id: experts.id,
  });
  const pdf = createPdf([
    [{ text: "Canoe handbook", size: 20 }],
    [
      { text: "Returns", size: 18 },
      { text: knownAnswer, y: 700 },
    ],
  ]);
  const upload = { content_base64: pdf.toString("base64"), file_name: "canoes.pdf" };
  const { data: file } = await app.call(uploads.upload_file, upload);
  const { data: document } = await app.call(knowledgeBase.add_document, {
    name: "Canoe handbook",
    source_type: "pdf",
    upload_id: file.id,
  });
  await app.runDueJobs();
  const { data } = await app.call(knowledgeBase.get_document, { id: document.id });
  expect(data).toMatchObject({ status: "ready", pages: 2 });
  await configure();
  await create(chain(say("Ask me about canoes."), { id: "bot", node_type: "chatbot" }), {
    trigger_keyword: "canoe help",
  });
});

test("a keyword leads to the bot, which answers from a PDF, hands over with a note, and is silent after a person's reply", async () => {
  const number = "+14155550701";
  const id = await bot.write(number, "Canoe help");
  expect((await runsOf(id)).map(({ status, reason }) => [status, reason])).toEqual([
    ["completed", "handed_over"],
  ]);
  // Routing leaves the conversation to the bot.
  expect(await bot.conversation(id)).toMatchObject({ assigned_to: null });

  await bot.write(number, known);
  expect(await bot.sentTo(number)).toEqual(["Ask me about canoes.", knownAnswer]);
  const [turn] = await bot.turnsOf(id);
  expect(turn).toMatchObject({
    status: "answered",
    question: known,
    agent_used: "answer (extractive)",
    sources: [{ type: "chunk", document_name: "Canoe handbook", page: 2 }],
  });
  expect(await bot.conversation(id)).toMatchObject({ assigned_to: null });

  await bot.write(number, unknown);
  expect((await bot.sentTo(number)).at(-1)).toBe(goodbye);
  expect(await bot.conversation(id)).toMatchObject({ assigned_to: experts.users.Eve, team_id: experts.id });
  const context = await bot.contextOf(id);
  expect(context.chatbot).toMatchObject({
    state: "handed_off",
    reason: "not_found",
    handed_off: {
      reason: "not_found",
      question: unknown,
      found: [{ type: "chunk", document_name: "Canoe handbook", page: 2 }],
    },
  });

  await app.call(messages.send_message, { to: number, type: "text", text: { body: "Eve here." } });
  await bot.write(number, known);
  expect(await bot.sentTo(number)).toEqual(["Ask me about canoes.", knownAnswer, goodbye, "Eve here."]);
  expect(await bot.turnsOf(id)).toHaveLength(2);
});

describe("a conversation of the bot", () => {
  test("is not answered after the 24-hour window, and a person takes over without a message", async () => {
    const number = "+14155550702";
    const [inbox] = (await app.call(inboxes.list_inboxes, {})).data;
    await app.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings: { service_window: "strict" } });
    const id = await bot.write(number, "Canoe help");
    const { queries } = app.server.database;
    // The bot's answer is due long after the message, as after a long interruption of the service.
    await openPhone(app, number).write(known);
    await queries
      .updateTable("jobs")
      .set({ run_at: new Date(app.now().getTime() + 2 * day).toISOString() })
      .where("name", "like", "chatbot.%")
      .execute();
    await app.advanceTime(2 * day + 60_000);
    expect(await bot.sentTo(number)).toEqual(["Ask me about canoes."]);
    expect((await bot.contextOf(id)).chatbot?.handed_off).toMatchObject({
      reason: "outside_service_window",
      question: known,
    });
    expect(await bot.turnsOf(id)).toMatchObject([{ status: "handed_off", answer_message_id: null }]);
    expect(await bot.conversation(id)).toMatchObject({ assigned_to: experts.users.Eve });
  });

  test("is not routed while the bot has it, and is routed at the hand-off", async () => {
    const number = "+14155550703";
    const id = await bot.write(number, "Canoe help");
    await bot.write(number, known);
    await app.advanceTime(day / 2);
    const decisions = async () => (await app.call(routing.list_routing_decisions, { id })).data;
    const before = (await decisions()).length;
    expect(await bot.conversation(id)).toMatchObject({ assigned_to: null });
    await bot.write(number, known);
    expect(await decisions()).toHaveLength(before);
    await bot.write(number, unknown);
    expect(await decisions()).toHaveLength(before + 1);
    expect((await decisions())[0]).toMatchObject({ outcome: "assigned", policy_name: "Experts" });
  });

  test("is handed to the team of the node, and to routing after that team was deleted", async () => {
    await configure(desk.id);
    const number = "+14155550705";
    const id = await bot.write(number, "Canoe help");
    await bot.write(number, unknown);
    expect(await bot.conversation(id)).toMatchObject({ team_id: desk.id, assigned_to: desk.users.Ada });

    const gone = await createTeamWithMembers(app, { name: "Gone", tier: 3 }, {});
    await configure(gone.id);
    const other = await bot.write("+14155550706", "Canoe help");
    await app.call(teams.delete_team, { id: gone.id });
    await bot.write("+14155550706", unknown);
    expect(await bot.conversation(other)).toMatchObject({ assigned_to: experts.users.Eve });
    await configure();
  });

  test("keeps its turns for 90 days", async () => {
    const number = "+14155550704";
    const id = await bot.write(number, "Canoe help");
    await bot.write(number, known);
    await app.advanceTime(89 * day);
    expect(await bot.turnsOf(id)).toHaveLength(1);
    await app.advanceTime(2 * day);
    expect(await bot.turnsOf(id)).toEqual([]);
    expect((await bot.contextOf(id)).messages).toHaveLength(4);
  });
});
