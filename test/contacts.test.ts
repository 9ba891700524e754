/** Contacts: one per number, found by name or number, changed in parts, erased whole. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages.ts";
import { refusal } from "./support/failure.ts";
import { type House, openHouse } from "./support/house.ts";

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house[Symbol.asyncDispose]());

test("a contact is created with its number in E.164 form", async () => {
  const { data } = await house.call(contacts.create_contact, {
    phone_number: "+1 (415) 555-0111",
    name: "Ada",
    metadata: { plan: "pro" },
  });
  expect(data).toMatchObject({
    phone_number: "+14155550111",
    name: "Ada",
    tags: [],
    metadata: { plan: "pro" },
  });
  expect(await house.call(contacts.get_contact, { id: data.id })).toEqual({ data });
});

test("a known number is refused with the id of the contact that has it", async () => {
  const { data } = await house.call(contacts.create_contact, { phone_number: "+14155550112" });
  const failure = await refusal(house.call(contacts.create_contact, { phone_number: "14155550112" }));
  expect(failure).toMatchObject({ status: 409, code: "contact_exists" });
  expect(failure.error).toMatchObject({ existing_id: data.id });
});

test.each([
  "+1 415 555 0120",
  "0014155550120",
  "tel:+14155550120",
  "whatsapp:+14155550120",
  "＋１４１５５５５０１２０",
])("%s is read as +14155550120", async (phone_number) => {
  const { data } = await house.call(contacts.upsert_contact, { phone_number });
  expect(data.phone_number).toBe("+14155550120");
});

test("a number that is none is refused by name", async () => {
  const failure = await refusal(house.call(contacts.create_contact, { phone_number: "+1 23" }));
  expect(failure).toMatchObject({ status: 400, code: "invalid_phone_number" });
  expect(failure.error).toMatchObject({ param: "phone_number" });
});

test("find-or-create makes one contact and changes only what is sent", async () => {
  const first = await house.call(contacts.upsert_contact, {
    phone_number: "+14155550113",
    metadata: { a: 1 },
  });
  const second = await house.call(contacts.upsert_contact, { phone_number: "+14155550113", name: "Grace" });
  expect(first.data.created).toBe(true);
  expect(second.data).toMatchObject({ id: first.data.id, created: false, name: "Grace", metadata: { a: 1 } });
});

test("an update changes what is sent and replaces metadata whole", async () => {
  const { data } = await house.call(contacts.create_contact, {
    phone_number: "+14155550114",
    name: "Joan",
    metadata: { a: 1 },
  });
  const changed = await house.call(contacts.update_contact, { id: data.id, metadata: { b: 2 } });
  expect(changed.data).toMatchObject({ name: "Joan", metadata: { b: 2 } });
  expect(changed.data).not.toHaveProperty("organization_id");
});

test("tags are added once and taken off", async () => {
  const { data } = await house.call(contacts.create_contact, { phone_number: "+14155550115" });
  const tag = async (change: object) =>
    (await house.call(contacts.tag_contact, { id: data.id, ...change })).data.tags;
  expect(await tag({ add: ["vip", "new", "vip"] })).toEqual(["vip", "new"]);
  expect(await tag({ add: ["vip"], remove: ["new", "never"] })).toEqual(["vip"]);
  expect(await tag({})).toEqual(["vip"]);
});

test("search finds by part of a name, of a number, and takes wildcards as letters", async () => {
  await house.call(contacts.create_contact, { phone_number: "+442079460958", name: "Zoë 100%" });
  const find = async (search: string) =>
    (await house.call(contacts.list_contacts, { search })).data.map((c) => c.name);
  expect(await find("zoë")).toEqual(["Zoë 100%"]);
  expect(await find("20 7946")).toEqual(["Zoë 100%"]);
  expect(await find("100%")).toEqual(["Zoë 100%"]);
  expect(await find("1_0%")).toEqual([]);
});

test("search knows no accents and no order of words", async () => {
  const { data } = await house.call(contacts.create_contact, {
    phone_number: "+14155550116",
    name: "María-José López",
  });
  const find = async (search: string) =>
    (await house.call(contacts.list_contacts, { search })).data.map(({ id }) => id);
  expect(await find("maria lopez")).toEqual([data.id]);
  expect(await find("LÓPEZ mar")).toEqual([data.id]);
  const other = await house.call(contacts.create_contact, {
    phone_number: "+14155550121",
    name: "Łukasz Strauß",
  });
  expect(await find("lukasz strauss")).toEqual([other.data.id]);
  await house.call(contacts.update_contact, { id: data.id, name: "Marie Curie" });
  expect(await find("lopez")).toEqual([]);
  expect(await find("curie 0116")).toEqual([data.id]);
  await house.call(contacts.update_contact, { id: data.id, name: "" });
  expect((await house.call(contacts.get_contact, { id: data.id })).data.name).toBeNull();
});

test("a list is paged, newest first, and says how large it is", async () => {
  const all = await house.call(contacts.list_contacts, {});
  const second = await house.call(contacts.list_contacts, { page: 2, per_page: 2 });
  expect(second.meta).toEqual({ page: 2, per_page: 2, total: all.meta.total });
  expect(second.data).toEqual(all.data.slice(2, 4));
  expect((await house.call(contacts.list_contacts, { per_page: 5000 })).meta.per_page).toBe(100);
});

test("of two who erase at once, one does", async () => {
  const { data } = await house.call(contacts.create_contact, { phone_number: "+14155550118" });
  const erase = () => house.call(contacts.delete_contact, { id: data.id });
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, erase));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("what is written while a contact is erased is erased with it", async () => {
  const number = "+14155550117";
  const send = () => house.call(messages.send_message, { to: number, type: "text", text: { body: "trace" } });
  for (let round = 0; round < 5; round += 1) {
    const { data } = await house.call(contacts.upsert_contact, { phone_number: number });
    const erase = house.call(contacts.delete_contact, { id: data.id });
    await Promise.all([erase, ...Array.from({ length: 12 }, send)]);
  }
  const traces = await house.app.database.queries
    .selectFrom("messages")
    .innerJoin("conversations", "conversations.id", "messages.conversation_id")
    .innerJoin("contacts", "contacts.id", "conversations.contact_id")
    .select("messages.id")
    .where("contacts.erased_at", "is not", null)
    .where("messages.to", "is not", null)
    .execute();
  expect(traces).toEqual([]);
});

test("an erased contact is gone, and the text of its messages with it", async () => {
  const sent = await house.call(messages.send_message, {
    to: "+14155550119",
    type: "text",
    text: { body: "secret" },
  });
  const [contact] = (await house.call(contacts.list_contacts, { search: "4155550119" })).data;
  const id = contact?.id ?? "";
  expect(await house.call(contacts.delete_contact, { id })).toEqual({ data: { id, deleted: true } });
  expect(await refusal(house.call(contacts.get_contact, { id }))).toMatchObject({ status: 404 });
  expect(await refusal(house.call(contacts.delete_contact, { id }))).toMatchObject({ status: 404 });
  const { conversation_id } = sent.data;
  expect(await refusal(house.call(messages.list_messages, { conversation_id }))).toMatchObject({
    status: 404,
  });
  const rows = await house.app.database.queries.selectFrom("messages").select(["content", "to"]).execute();
  expect(JSON.stringify(rows)).not.toContain("secret");
});
