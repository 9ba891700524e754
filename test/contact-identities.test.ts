/** Contact identities: number variants, channel user ids and usernames identify one contact. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { phoneKey } from "../src/platform/account/phone/index.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();

describe("two spellings of one number", () => {
  test.each([
    ["+551187654321", "+5511987654321"], // Brazil, mobile without and with its 9
    ["+552167654321", "+5521967654321"],
    ["+541155551234", "+5491155551234"], // Argentina
    ["+543515551234", "+5493515551234"],
    ["+525512345678", "+5215512345678"], // Mexico
  ])("%s is %s", (one, other) => {
    expect(phoneKey(one)).toBe(phoneKey(other));
  });

  test.each([
    ["+551123456789", "+5511923456789"], // Brazil: a landline, and a mobile that ends in the same digits
    ["+551133334444", "+5511933334444"],
    ["+5511987654321", "+5521987654321"], // other areas
    ["+14155550123", "+94155550123"], // a 1 or a 9 elsewhere
    ["+521234567890", "+52234567890"], // not the length of a number of Mexico's
    ["+54911555512345", "+5411555512345"], // nor of Argentina's
  ])("%s is not %s", (one, other) => {
    expect(phoneKey(one)).not.toBe(phoneKey(other));
  });

  test("a message from one finds the contact that was made with the other, and shows the stored number", async () => {
    const { data } = await app.call(contacts.create_contact, { phone_number: "+5511987650001" });
    const { conversation_id } = await openPhone(app, "+551187650001").write("oi");
    expect(await getConversation(conversation_id)).toMatchObject({
      contact_id: data.id,
      phone_number: "+5511987650001",
    });
  });

  test("creating is rejected with the existing id, and find-or-create finds it", async () => {
    const { data } = await app.call(contacts.create_contact, { phone_number: "+5491155550002" });
    const variant = { phone_number: "+541155550002" };
    const failure = await expectFailure(app.call(contacts.create_contact, variant));
    expect(failure).toMatchObject({ code: "contact_exists", error: { existing_id: data.id } });
    expect((await app.call(contacts.upsert_contact, variant)).data).toMatchObject({
      id: data.id,
      created: false,
      phone_number: "+5491155550002",
    });
  });

  test("an obsolete spelling is stored as the current number", async () => {
    const { data } = await app.call(contacts.upsert_contact, { phone_number: "+52 1 55 1234 0003" });
    expect(data.phone_number).toBe("+525512340003");
  });

  test("that write at the same time make one contact", { tags: "both" }, async () => {
    const spellings = ["+5511987650004", "+551187650004"];
    const writing = Array.from({ length: 12 }, (_, index) =>
      openPhone(app, spellings[index % 2] ?? "").write("oi"),
    );
    const conversationIds = new Set(
      (await Promise.all(writing)).map(({ conversation_id }) => conversation_id),
    );
    expect(conversationIds.size).toBe(1);
    expect((await app.call(contacts.list_contacts, { search: "87650004" })).meta.total).toBe(1);
  });
});

describe("a contact without a visible number", () => {
  const user_id = "US.13491208655302741918";
  const hidden = { from: undefined, user_id, username: "ada.l", name: "Ada" };

  test("has an id and a conversation, and is found by name and username", async () => {
    const { conversation_id } = await openPhone(app, user_id).write("hi", hidden);
    const { contact_id, phone_number } = await getConversation(conversation_id);
    expect(phone_number).toBeNull();
    const contact = { id: contact_id, phone_number: null, bsuid: user_id, username: "ada.l", name: "Ada" };
    expect((await app.call(contacts.get_contact, { id: contact_id })).data).toMatchObject(contact);
    const found = await app.call(contacts.list_contacts, { search: "ada.l" });
    expect(found.data).toMatchObject([{ id: contact_id, phone_number: null, name: "Ada" }]);
    const { data } = await app.call(messages.list_messages, { conversation_id });
    expect(data).toMatchObject([{ direction: "inbound", text: { body: "hi" } }]);
    const again = await openPhone(app, user_id).write("hello?", hidden);
    expect(again.conversation_id).toBe(conversation_id);
  });

  test("is answered by user id, which the channel receives", async () => {
    const phone = openPhone(app, "US.6");
    await phone.write("hi", { from: undefined, user_id: "US.6" });
    const answer = { to: "US.6", type: "text", text: { body: "welcome" } } as const;
    const { data } = await app.call(messages.send_message, answer);
    expect(data).toMatchObject({ to: "US.6", status: "queued" });
    await app.advanceTime(1000);
    expect((await phone.listMessages()).at(-1)).toMatchObject({
      status: "delivered",
      text: { body: "welcome" },
    });
  });

  test("can't be sent to before it has written", async () => {
    const answer = { to: "US.404", type: "text", text: { body: "hello" } } as const;
    expect(await expectFailure(app.call(messages.send_message, answer))).toMatchObject({
      status: 404,
      code: "contact_not_found",
      error: { param: "to" },
    });
  });

  test("keeps conversation and contact when the number becomes known", async () => {
    const identity = { user_id: "US.5", name: "Bo" };
    const { conversation_id } = await openPhone(app, "US.5").write("hi", { ...identity, from: undefined });
    const later = await openPhone(app, "+14155550205").write("it's me", identity);
    expect(later.conversation_id).toBe(conversation_id);
    expect((await getConversation(conversation_id)).phone_number).toBe("+14155550205");
    const byNumber = await openPhone(app, "+14155550205").write("me again");
    expect(byNumber.conversation_id).toBe(conversation_id);
    expect((await app.call(contacts.list_contacts, { search: "0205" })).meta.total).toBe(1);
  });

  test("is reported as changed when the number becomes known", async () => {
    const types = "contact.updated";
    const identity = { user_id: "US.11", name: "Bo" };
    const { conversation_id } = await openPhone(app, "US.11").write("hi", { ...identity, from: undefined });
    const { contact_id } = await getConversation(conversation_id);
    const { cursor: after } = (await app.call(webhooks.list_events, { types })).meta;
    await openPhone(app, "+14155550207").write("it's me", identity);
    await openPhone(app, "+14155550207").write("me again", { ...identity, username: "bo.l" });
    const { data: events } = await app.call(webhooks.list_events, { types, after });
    const actor = { type: "system" };
    expect(events).toMatchObject([
      { data: { contact_id, fields: ["phone_number"], opted_out: false, actor } },
    ]);
  });

  test("is one contact when several messages arrive at once", { tags: "both" }, async () => {
    const writing = Array.from({ length: 10 }, () =>
      openPhone(app, "US.10").write("hi", {
        from: undefined,
        user_id: "US.10",
        username: "six",
        wa_id: "14155550206",
      }),
    );
    const conversationIds = new Set(
      (await Promise.all(writing)).map(({ conversation_id }) => conversation_id),
    );
    expect(conversationIds.size).toBe(1);
  });
});

test("an identity of another contact stays there, and no contacts are merged", async () => {
  const first = await openPhone(app, "+14155550210").write("hi", { username: "shared" });
  const second = await openPhone(app, "US.7").write("hi", { from: undefined, user_id: "US.7" });
  // This message carries the number of the first contact and the user id of the second.
  const third = await openPhone(app, "+14155550210").write("hi", { user_id: "US.7" });
  expect(third.conversation_id).toBe(second.conversation_id);
  expect((await getConversation(second.conversation_id)).phone_number).toBeNull();
  expect((await openPhone(app, "+14155550210").write("hi")).conversation_id).toBe(first.conversation_id);
});

test("a username taken over by another contact does not lead to the first one's conversation", async () => {
  const before = await openPhone(app, "US.8").write("hi", {
    from: undefined,
    user_id: "US.8",
    username: "eight",
  });
  const after = await openPhone(app, "US.9").write("hi", {
    from: undefined,
    user_id: "US.9",
    username: "eight",
    name: "Nina",
  });
  expect(after.conversation_id).not.toBe(before.conversation_id);
  // The contact shows no username that belongs to another one, and is not found by it.
  const { contact_id } = await getConversation(after.conversation_id);
  const { data } = await app.call(contacts.get_contact, { id: contact_id });
  expect(data).toMatchObject({ name: "Nina", bsuid: "US.9", username: null });
  expect(await search("nina")).toEqual([contact_id]);
  expect(await search("eight")).not.toContain(contact_id);
});

test("every contact has an identity", async () => {
  const { rows } = await sql`
    select id from contacts where erased_at is null and not exists (
      select from contact_identities as known
      where known.organization_id = contacts.organization_id and known.contact_id = contacts.id
    )
  `.execute(app.server.database.queries);
  expect(rows).toEqual([]);
});

async function search(words: string) {
  return (await app.call(contacts.list_contacts, { search: words })).data.map(({ id }) => id);
}

async function getConversation(id: string) {
  return (await app.call(conversations.get_conversation, { id })).data;
}
