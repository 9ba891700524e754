/** The bot is switched off: its conversations are left to people, and come back when it is switched on. */
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { createChatbotHelpers } from "./support/chatbot.ts";
import { useRoutingApp } from "./support/routing.ts";
import { createTeamWithMembers } from "./support/teams.ts";

const { app, createPolicy } = useRoutingApp();
const bot = createChatbotHelpers(app);

const hours = "What are your opening hours?";
const answer = "Monday to Friday, 9 to 17.";

beforeAll(async () => {
  await bot.configure();
  await bot.addPair(hours, answer);
  await bot.setInbox(true);
});

/** Gives the bot more conversations like this one. */
async function copyPart(id: string, count: number): Promise<void> {
  await sql`
    with one as (select * from conversations where id = ${id}), contact as (
      insert into contacts (organization_id, id, name, created_at, updated_at)
      select organization_id, 'con_' || number, 'Copy', created_at, updated_at
      from one cross join generate_series(1, ${count}::int) as number
      returning organization_id, id
    ), copy as (
      insert into conversations (organization_id, id, inbox_id, contact_id, status, created_at, updated_at)
      select organization_id, 'conv_' || contact.id, inbox_id, contact.id, 'open', created_at, updated_at
      from one join contact using (organization_id)
      returning organization_id, id, contact_id, created_at
    )
    insert into chatbot_conversations (organization_id, conversation_id, contact_id, state, started_by, since)
    select organization_id, id, contact_id, 'active', 'inbox', created_at from copy
  `.execute(app.server.database.queries);
}

async function countAssigned(): Promise<number> {
  const { queries } = app.server.database;
  const rows = await queries.selectFrom("conversations").select("assigned_to").execute();
  return rows.filter(({ assigned_to }) => assigned_to !== null).length;
}

test("routing takes the conversations of a bot that is switched off", async () => {
  const team = await createTeamWithMembers(
    app,
    {},
    { Ada: { max_concurrent_chats: 100 }, Bo: { max_concurrent_chats: 100 } },
  );
  await createPolicy(team, { strategy: "round_robin" });
  const id = await bot.write("+14155550101", hours);
  await copyPart(id, 100);
  expect((await bot.conversation(id)).assigned_to).toBeNull();
  await bot.configure({ is_active: false });
  await app.runDueJobs();
  expect(await countAssigned()).toBe(101);
  await bot.configure({ is_active: true });
});

test("a pending conversation opens if its contact waits for an answer", async () => {
  const phones = ["+14155550102", "+14155550103"];
  const [waiting = "", answered = ""] = await Promise.all(phones.map((phone) => bot.write(phone, hours)));
  for (const [index, id] of [waiting, answered].entries()) {
    await app.call(conversations.update_conversation, { id, status: "closed" });
    await bot.write(phones[index] ?? "", hours);
    expect((await bot.conversation(id)).status).toBe("pending");
  }
  const { queries } = app.server.database;
  await queries
    .updateTable("conversations")
    .set({ waiting_since: app.now().toISOString() })
    .where("id", "=", waiting)
    .execute();
  await bot.configure({ is_active: false });
  await app.runDueJobs();
  expect((await bot.conversation(waiting)).status).toBe("open");
  expect((await bot.conversation(answered)).status).toBe("pending");
  await bot.configure({ is_active: true });
});

test("the bot answers again when it is switched on, unless a person has answered", async () => {
  const [phone, other] = ["+14155550104", "+14155550105"] as const;
  const id = await bot.write(phone, hours);
  await bot.write(other, hours);
  await bot.configure({ is_active: false });
  await app.runDueJobs();
  expect((await bot.contextOf(id)).chatbot).toMatchObject({ state: "ended", reason: "switched_off" });
  await app.call(messages.send_message, { to: other, type: "text", text: { body: "A person." } });
  await bot.configure({ is_active: true });
  await bot.write(phone, hours);
  await bot.write(other, hours);
  expect(await bot.sentTo(phone)).toEqual([answer, answer]);
  expect(await bot.sentTo(other)).toEqual([answer, "A person."]);
});
