/** Whom a message goes to: `to` is a number, a contact's id, a conversation's id or a business-scoped id. */
import { beforeAll, describe, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { toolMappingsOf } from "../tools/contract/index.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();
const number = "+14155550610";
const second = "+14155550699";

let inbox_id: string;
beforeAll(async () => {
  const created = await app.call(inboxes.create_inbox, { name: "Second", phone_number: second });
  inbox_id = created.data.id;
});

async function send(to: string, fields: object = {}) {
  const { data } = await app.call(messages.send_message, {
    to,
    type: "text",
    text: { body: "hi" },
    ...fields,
  });
  return data;
}

const inboxOf = async (id: string) => (await app.call(conversations.get_conversation, { id })).data.inbox_id;

describe("to", () => {
  test("is a contact's id: the message goes to the number, and creates no contact", async () => {
    const { data } = await app.call(contacts.create_contact, { phone_number: number });
    expect(await send(data.id)).toMatchObject({ to: number });
    expect((await app.call(contacts.list_contacts, { search: number })).meta.total).toBe(1);
  });

  test("is a conversation's id: the message goes into that conversation, from its inbox", async () => {
    const first = await openPhone(app, number).write("one");
    const other = await openPhone(app, number).write("two", { to: second });
    expect(other.conversation_id).not.toBe(first.conversation_id);
    // Not the latest conversation, which a number alone selects.
    expect(await send(first.conversation_id)).toMatchObject({
      to: number,
      conversation_id: first.conversation_id,
    });
    expect(await send(other.conversation_id)).toMatchObject({ conversation_id: other.conversation_id });
    expect(await inboxOf(other.conversation_id)).toBe(inbox_id);
  });

  test("is a conversation's id, and inbox_id names another inbox for its contact", async () => {
    const { conversation_id } = await openPhone(app, "+14155550611").write("one");
    const sent = await send(conversation_id, { inbox_id });
    expect(sent.conversation_id).not.toBe(conversation_id);
    expect(await inboxOf(sent.conversation_id)).toBe(inbox_id);
  });

  test("may be a number of few digits", async () => {
    const { conversation_id, id } = await send("+431234");
    await app.advanceTime(1_000);
    const { data } = await app.call(messages.get_message, { conversation_id, message_id: id });
    expect(data.status).toBe("delivered");
  });

  test("names an inbox that does not exist", async () => {
    const { conversation_id } = await openPhone(app, "+14155550613").write("one");
    const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
    for (const to of ["+14155550613", data.contact_id, conversation_id]) {
      expect(await expectFailure(send(to, { inbox_id: "inb_x" }))).toMatchObject({
        status: 404,
        code: "inbox_not_found",
        error: { param: "inbox_id" },
      });
    }
  });

  test("reaches a contact who hides the number", async () => {
    const user_id = "US.13491208655302741777";
    const { conversation_id } = await openPhone(app, "+14155550612").write("hi", {
      user_id,
      from: undefined,
    });
    const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
    expect(data.phone_number).toBeNull();
    expect(await send(conversation_id)).toMatchObject({ to: user_id, conversation_id });
    expect(await send(data.contact_id)).toMatchObject({ to: user_id, conversation_id });
  });

  test.each([
    ["con_none", "contact_not_found"],
    ["conv_none", "conversation_not_found"],
  ])("the unknown id %s is rejected", async (to, code) => {
    expect(await expectFailure(send(to))).toMatchObject({ status: 404, code, error: { param: "to" } });
  });

  test("the ids of an erased contact are unknown", async () => {
    const { conversation_id } = await openPhone(app, "+14155550613").write("bye");
    const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
    await app.call(contacts.delete_contact, { id: data.contact_id });
    expect(await expectFailure(send(data.contact_id))).toMatchObject({ code: "contact_not_found" });
    expect(await expectFailure(send(conversation_id))).toMatchObject({ code: "conversation_not_found" });
  });

  test("another organization's ids are unknown", async () => {
    const { contact_id, conversation_id } = await createOtherTenant(app);
    expect(await expectFailure(send(contact_id))).toMatchObject({ code: "contact_not_found" });
    expect(await expectFailure(send(conversation_id))).toMatchObject({ code: "conversation_not_found" });
  });
});

test("every tool that sends requires to, and can quote a message", () => {
  const mappings = Object.entries(toolMappingsOf("send_message", messages.send_message));
  expect(mappings.map(([name]) => name)).toHaveLength(5);
  for (const [name, { input }] of mappings) {
    expect(Object.keys(input.shape), name).toEqual(expect.arrayContaining(["to", "reply_to"]));
    expect(input.shape.to?.safeParse(undefined).success, name).toBe(false);
  }
});
