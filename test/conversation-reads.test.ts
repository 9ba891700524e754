/** What each person has read of the conversations, and the notes that mention a person. */
import { expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { notes } from "../tools/notes.ts";
import { users } from "../tools/users.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { openPhone } from "./support/simulator.ts";
import { createUserWithRole, signIn, trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });

/** A signed-in person, with what the person sees. */
async function signPerson() {
  const { id, email } = await createUserWithRole(app, "agent");
  const { access_token: key } = await signIn(app, email);
  const list = async (filter: "unread_by_me" | "mentions_me" | "unread_mentions") =>
    (await app.call(conversations.list_conversations, { filter }, { key })).data.map((one) => one.id);
  return {
    id,
    key,
    listUnread: () => list("unread_by_me"),
    listMentions: () => list("mentions_me"),
    listUnreadMentions: () => list("unread_mentions"),
    mark: (conversation: string, is_unread: boolean) =>
      app.call(conversations.update_conversation, { id: conversation, is_unread }, { key }),
    async read(conversation: string) {
      const { data } = await app.call(conversations.get_conversation, { id: conversation }, { key });
      return data.is_unread_by_me;
    },
  };
}

async function write(number: string) {
  await app.advanceTime(1_000);
  return (await openPhone(app, number).write("Hello?")).conversation_id;
}

test("what one person reads stays unread for the others, until each has read it", async () => {
  const [ana, ben] = [await signPerson(), await signPerson()];
  const id = await write("+14155550801");
  expect([await ana.listUnread(), await ben.listUnread()]).toEqual([[id], [id]]);
  await app.advanceTime(1_000);
  await ana.mark(id, false);
  expect([await ana.listUnread(), await ben.listUnread()]).toEqual([[], [id]]);
  expect([await ana.read(id), await ben.read(id)]).toEqual([false, true]);
  const { data } = await app.call(messages.get_conversation_context, { id }, { key: ben.key });
  expect(data.conversation).toMatchObject({ is_unread: false, is_unread_by_me: true });
  await ben.mark(id, false);
  expect(await ben.listUnread()).toEqual([]);
  await write("+14155550801");
  expect([await ana.listUnread(), await ben.listUnread()]).toEqual([[id], [id]]);
});

test("a person marks a conversation as unread again for themselves", async () => {
  const [ana, ben] = [await signPerson(), await signPerson()];
  const id = await write("+14155550802");
  await app.advanceTime(1_000);
  for (const person of [ana, ben]) {
    await person.mark(id, false);
  }
  expect((await ana.mark(id, true)).data).toMatchObject({ is_unread: true, is_unread_by_me: true });
  expect(await ana.listUnread()).toEqual([id]);
  expect(await ben.listUnread()).not.toContain(id);
});

test("a new person has nothing unread, and closed conversations are not listed", async () => {
  const id = await write("+14155550803");
  await app.advanceTime(1_000);
  const ana = await signPerson();
  expect(await ana.listUnread()).toEqual([]);
  await write("+14155550803");
  expect(await ana.listUnread()).toEqual([id]);
  await app.call(conversations.update_conversation, { id, status: "closed" });
  expect(await ana.listUnread()).toEqual([]);
});

test("API keys have read nothing: their answers say nothing of it, and they can't list it", async () => {
  const id = await write("+14155550804");
  expect((await app.call(conversations.get_conversation, { id })).data).not.toHaveProperty("is_unread_by_me");
  for (const filter of ["unread_by_me", "mentions_me", "unread_mentions"] as const) {
    expect(await expectFailure(app.call(conversations.list_conversations, { filter }))).toMatchObject({
      code: "needs_user",
    });
  }
});

test("a note lists the people whom it mentions, and they find its conversation", async () => {
  const [ana, ben] = [await signPerson(), await signPerson()];
  const [id, other] = [await write("+14155550805"), await write("+14155550806")];
  const add = (conversation_id: string, mentions: string[]) =>
    app.call(notes.add_note, { conversation_id, text: "Can you take this one?", mentions });
  const { data } = await add(id, [ana.id, ana.id]);
  expect(data.mentions).toEqual([ana.id]);
  await add(other, []);
  expect([await ana.listMentions(), await ben.listMentions()]).toEqual([[id], []]);
  expect((await app.call(notes.list_notes, { conversation_id: id })).data).toEqual([data]);
});

test("a mention is unread until the person has read the conversation after it", async () => {
  const [ana, ben] = [await signPerson(), await signPerson()];
  const id = await write("+14155550808");
  await ana.mark(id, false);
  const mention = async () => {
    await app.advanceTime(1_000);
    await app.call(notes.add_note, { conversation_id: id, text: "Please look", mentions: [ana.id] });
  };
  await mention();
  expect([await ana.listUnreadMentions(), await ben.listUnreadMentions()]).toEqual([[id], []]);
  const { data } = await app.call(conversations.list_conversations, { filter: "mentions_me" }, ana);
  expect(data[0]?.last_note).toMatchObject({ text: "Please look", mentions: [ana.id] });
  await app.advanceTime(1_000);
  await ana.mark(id, false);
  expect([await ana.listUnreadMentions(), await ana.listMentions()]).toEqual([[], [id]]);
  await mention();
  expect(await ana.listUnreadMentions()).toEqual([id]);
});

test("only active people of the organization can be mentioned", async () => {
  const id = await write("+14155550807");
  const ana = await signPerson();
  const stranger = await createOtherTenant(app);
  const add = (mention: string) =>
    expectFailure(app.call(notes.add_note, { conversation_id: id, text: "Look", mentions: [mention] }));
  expect(await add(stranger.user_id)).toMatchObject({ code: "user_not_found", error: { param: "mentions" } });
  await app.call(users.update_user, { id: ana.id, is_active: false });
  expect(await add(ana.id)).toMatchObject({ code: "user_inactive", error: { param: "mentions" } });
});
