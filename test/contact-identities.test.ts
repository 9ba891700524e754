/** A contact is one person, however a channel spells the number, and also without one. */
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { phoneKey } from "../src/platform/contacts/phone.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { refusal } from "./support/failure.ts";
import { type House, openHouse } from "./support/house.ts";
import { phone } from "./support/simulator.ts";

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house[Symbol.asyncDispose]());

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

  test("a message from one finds the contact that was made with the other, and shows the first", async () => {
    const { data } = await house.call(contacts.create_contact, { phone_number: "+5511987650001" });
    const { conversation_id } = await phone(house, "+551187650001").write("oi");
    expect(await threadOf(conversation_id)).toMatchObject({
      contact_id: data.id,
      phone_number: "+5511987650001",
    });
  });

  test("creating is refused with the known id, and find-or-create finds it", async () => {
    const { data } = await house.call(contacts.create_contact, { phone_number: "+5491155550002" });
    const variant = { phone_number: "+541155550002" };
    const failure = await refusal(house.call(contacts.create_contact, variant));
    expect(failure).toMatchObject({ code: "contact_exists", error: { existing_id: data.id } });
    expect((await house.call(contacts.upsert_contact, variant)).data).toMatchObject({
      id: data.id,
      created: false,
      phone_number: "+5491155550002",
    });
  });

  test("a spelling that went out of use is taken as the number of today", async () => {
    const { data } = await house.call(contacts.upsert_contact, { phone_number: "+52 1 55 1234 0003" });
    expect(data.phone_number).toBe("+525512340003");
  });

  test("that write at once make one contact", async () => {
    const spellings = ["+5511987650004", "+551187650004"];
    const writing = Array.from({ length: 12 }, (_, turn) =>
      phone(house, spellings[turn % 2] ?? "").write("oi"),
    );
    const threads = new Set((await Promise.all(writing)).map(({ conversation_id }) => conversation_id));
    expect(threads.size).toBe(1);
    expect((await house.call(contacts.list_contacts, { search: "87650004" })).meta.total).toBe(1);
  });
});

describe("a person who hides the number", () => {
  const user_id = "US.13491208655302741918";
  const hidden = { from: undefined, user_id, username: "ada.l", name: "Ada" };

  test("is a contact with an id and a thread, found by name and username", async () => {
    const { conversation_id } = await phone(house, user_id).write("hi", hidden);
    const { contact_id, phone_number } = await threadOf(conversation_id);
    expect(phone_number).toBeNull();
    const contact = { id: contact_id, phone_number: null, bsuid: user_id, username: "ada.l", name: "Ada" };
    expect((await house.call(contacts.get_contact, { id: contact_id })).data).toMatchObject(contact);
    const found = await house.call(contacts.list_contacts, { search: "ada.l" });
    expect(found.data).toMatchObject([{ id: contact_id, phone_number: null, name: "Ada" }]);
    const { data } = await house.call(messages.list_messages, { conversation_id });
    expect(data).toMatchObject([{ direction: "inbound", text: { body: "hi" } }]);
    const again = await phone(house, user_id).write("hello?", hidden);
    expect(again.conversation_id).toBe(conversation_id);
  });

  test("is answered by that id, which reaches the channel as one", async () => {
    const answer = { to: user_id, type: "text", text: { body: "welcome" } } as const;
    const { data } = await house.call(messages.send_message, answer);
    expect(data).toMatchObject({ to: user_id, status: "queued" });
    await house.turn(1000);
    expect((await phone(house, user_id).shows()).at(-1)).toMatchObject({
      status: "delivered",
      text: { body: "welcome" },
    });
  });

  test("who never wrote can't be sent to", async () => {
    const answer = { to: "US.404", type: "text", text: { body: "hello" } } as const;
    expect(await refusal(house.call(messages.send_message, answer))).toMatchObject({
      status: 404,
      code: "contact_not_found",
      error: { param: "to" },
    });
  });

  test("keeps thread and contact when the number is told at last", async () => {
    const told = { user_id: "US.5", name: "Bo" };
    const { conversation_id } = await phone(house, "US.5").write("hi", { ...told, from: undefined });
    const later = await phone(house, "+14155550205").write("it's me", told);
    expect(later.conversation_id).toBe(conversation_id);
    expect((await threadOf(conversation_id)).phone_number).toBe("+14155550205");
    const byNumber = await phone(house, "+14155550205").write("me again");
    expect(byNumber.conversation_id).toBe(conversation_id);
    expect((await house.call(contacts.list_contacts, { search: "0205" })).meta.total).toBe(1);
  });

  test("is one contact when several messages come at once", async () => {
    const writing = Array.from({ length: 10 }, () =>
      phone(house, "US.6").write("hi", {
        from: undefined,
        user_id: "US.6",
        username: "six",
        wa_id: "14155550206",
      }),
    );
    const threads = new Set((await Promise.all(writing)).map(({ conversation_id }) => conversation_id));
    expect(threads.size).toBe(1);
  });
});

test("an identity that belongs to another contact stays there, and nobody is merged", async () => {
  const first = await phone(house, "+14155550210").write("hi", { username: "shared" });
  const second = await phone(house, "US.7").write("hi", { from: undefined, user_id: "US.7" });
  // The one says the number of the other.
  const third = await phone(house, "+14155550210").write("hi", { user_id: "US.7" });
  expect(third.conversation_id).toBe(second.conversation_id);
  expect((await threadOf(second.conversation_id)).phone_number).toBeNull();
  expect((await phone(house, "+14155550210").write("hi")).conversation_id).toBe(first.conversation_id);
});

test("a username that another person took finds nobody else's thread", async () => {
  const before = await phone(house, "US.8").write("hi", {
    from: undefined,
    user_id: "US.8",
    username: "eight",
  });
  const after = await phone(house, "US.9").write("hi", {
    from: undefined,
    user_id: "US.9",
    username: "eight",
  });
  expect(after.conversation_id).not.toBe(before.conversation_id);
});

test("no contact is without an identity, and none has another's", async () => {
  const { rows } = await sql`
    select id from contacts where erased_at is null and not exists (
      select from contact_identities as known
      where known.organization_id = contacts.organization_id and known.contact_id = contacts.id
    )
  `.execute(house.app.database.queries);
  expect(rows).toEqual([]);
});

async function threadOf(id: string) {
  return (await house.call(conversations.get_conversation, { id })).data;
}
