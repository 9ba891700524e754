/** Contacts: one per number, found by name or number, updated in part, erased completely. */
import { describe, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { ownerEmail, ownerPassword, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createUserKey, signIn, trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });

test("a contact is created with its number in E.164 form", async () => {
  const { data } = await app.call(contacts.create_contact, {
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
  expect(await app.call(contacts.get_contact, { id: data.id })).toEqual({ data });
});

test("a known number is rejected with the id of its contact", async () => {
  const { data } = await app.call(contacts.create_contact, { phone_number: "+14155550112" });
  const failure = await expectFailure(app.call(contacts.create_contact, { phone_number: "0014155550112" }));
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
  const { data } = await app.call(contacts.upsert_contact, { phone_number });
  expect(data.phone_number).toBe("+14155550120");
});

test("an invalid number is rejected with its field", async () => {
  const failure = await expectFailure(app.call(contacts.create_contact, { phone_number: "+1 23" }));
  expect(failure).toMatchObject({ status: 400, code: "invalid_phone_number" });
  expect(failure.error).toMatchObject({ param: "phone_number" });
});

test("find-or-create makes one contact and changes only the fields sent", async () => {
  const first = await app.call(contacts.upsert_contact, {
    phone_number: "+14155550113",
    metadata: { a: 1 },
  });
  const second = await app.call(contacts.upsert_contact, { phone_number: "+14155550113", name: "Grace" });
  expect(first.data.created).toBe(true);
  expect(second.data).toMatchObject({ id: first.data.id, created: false, name: "Grace", metadata: { a: 1 } });
});

test("an update changes the fields sent and replaces metadata completely", async () => {
  const { data } = await app.call(contacts.create_contact, {
    phone_number: "+14155550114",
    name: "Joan",
    metadata: { a: 1 },
  });
  const changed = await app.call(contacts.update_contact, { id: data.id, metadata: { b: 2 } });
  expect(changed.data).toMatchObject({ name: "Joan", metadata: { b: 2 } });
  expect(changed.data).not.toHaveProperty("organization_id");
});

test("tags are added once and removed", async () => {
  const { data } = await app.call(contacts.create_contact, { phone_number: "+14155550115" });
  const tag = async (change: object) =>
    (await app.call(contacts.tag_contact, { id: data.id, ...change })).data.tags;
  expect(await tag({ add: ["vip", "new", "vip"] })).toEqual(["vip", "new"]);
  expect(await tag({ add: ["vip"], remove: ["new", "never"] })).toEqual(["vip"]);
});

test("tags ignore case, and a list can be filtered by one", async () => {
  const { data } = await app.call(contacts.create_contact, { phone_number: "+14155550122" });
  const tagged = await app.call(contacts.tag_contact, { id: data.id, add: ["Gold", "GOLD ", "skill:fr"] });
  expect(tagged.data.tags).toEqual(["gold", "skill:fr"]);
  const list = async (tag: string) =>
    (await app.call(contacts.list_contacts, { tag })).data.map(({ id }) => id);
  expect(await list("GOLD")).toEqual([data.id]);
  expect(await list("gol")).toEqual([]);
  await app.call(contacts.tag_contact, { id: data.id, remove: ["Gold"] });
  expect(await list("gold")).toEqual([]);
});

test("a contact has at most 200 tags, and at the limit one can replace another", async () => {
  const { data } = await app.call(contacts.create_contact, { phone_number: "+14155550123" });
  const named = (from: number) => Array.from({ length: 50 }, (_, index) => `tag ${from + index}`);
  const tag = (change: object) => app.call(contacts.tag_contact, { id: data.id, ...change });
  for (const from of [0, 50, 100, 150]) {
    await tag({ add: named(from) });
  }
  const failure = await expectFailure(tag({ add: ["one more"] }));
  expect(failure).toMatchObject({ status: 422, code: "too_many_tags", error: { limit: 200, count: 201 } });
  expect((await tag({ add: ["one more"], remove: ["tag 0"] })).data.tags).toHaveLength(200);
});

test("search finds parts of a name or number, and takes wildcards literally", { tags: "both" }, async () => {
  await app.call(contacts.create_contact, { phone_number: "+442079460958", name: "Zoë 100%" });
  const find = async (search: string) =>
    (await app.call(contacts.list_contacts, { search })).data.map(({ name }) => name);
  expect(await find("zoë")).toEqual(["Zoë 100%"]);
  expect(await find("20 7946")).toEqual(["Zoë 100%"]);
  expect(await find("100%")).toEqual(["Zoë 100%"]);
  expect(await find("1_0%")).toEqual([]);
  expect(await find("ë 10")).toEqual(["Zoë 100%"]);
  expect(await find("%")).toEqual(["Zoë 100%"]);
  await app.call(contacts.create_contact, { phone_number: "+8613800138000", name: "李小明" });
  expect(await find("明")).toEqual(["李小明"]);
  expect(await find("李明")).toEqual([]);
});

test("search ignores accents and the order of words", { tags: "both" }, async () => {
  const { data } = await app.call(contacts.create_contact, {
    phone_number: "+14155550116",
    name: "María-José López",
  });
  const find = async (search: string) =>
    (await app.call(contacts.list_contacts, { search })).data.map(({ id }) => id);
  expect(await find("maria lopez")).toEqual([data.id]);
  expect(await find("LÓPEZ mar")).toEqual([data.id]);
  const other = await app.call(contacts.create_contact, {
    phone_number: "+14155550121",
    name: "Łukasz Strauß",
  });
  expect(await find("lukasz strauss")).toEqual([other.data.id]);
  await app.call(contacts.update_contact, { id: data.id, name: "Marie Curie" });
  expect(await find("lopez")).toEqual([]);
  expect(await find("curie 0116")).toEqual([data.id]);
  await app.call(contacts.update_contact, { id: data.id, name: "" });
  expect((await app.call(contacts.get_contact, { id: data.id })).data.name).toBeNull();
});

test("a list is paged, newest first, with its total", async () => {
  const { total } = (await app.call(contacts.list_contacts, {})).meta;
  const numbers = ["+14155550126", "+14155550127", "+14155550128", "+14155550129"];
  for (const phone_number of numbers) {
    await app.call(contacts.create_contact, { phone_number });
  }
  const second = await app.call(contacts.list_contacts, { page: 2, per_page: 2 });
  expect(second.meta).toEqual({ page: 2, per_page: 2, total: total + 4 });
  expect(second.data.map(({ phone_number }) => phone_number)).toEqual(["+14155550127", "+14155550126"]);
  expect((await app.call(contacts.list_contacts, { per_page: 5000 })).meta.per_page).toBe(100);
});

test("of several concurrent erasures one succeeds", { tags: "both" }, async () => {
  const { data } = await app.call(contacts.create_contact, { phone_number: "+14155550118" });
  const erase = () => app.call(contacts.delete_contact, { id: data.id });
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, erase));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("messages written while a contact is erased are erased too", { tags: "both" }, async () => {
  const number = "+14155550117";
  const send = () => app.call(messages.send_message, { to: number, type: "text", text: { body: "trace" } });
  for (let round = 0; round < 5; round += 1) {
    const { data } = await app.call(contacts.upsert_contact, { phone_number: number });
    const erase = app.call(contacts.delete_contact, { id: data.id });
    await Promise.all([erase, ...Array.from({ length: 12 }, send)]);
  }
  await app.runDueJobs();
  const remaining = await app.server.database.queries
    .selectFrom("messages")
    .innerJoin("conversations", "conversations.id", "messages.conversation_id")
    .innerJoin("contacts", "contacts.id", "conversations.contact_id")
    .select("messages.id")
    .where("contacts.erased_at", "is not", null)
    .where("messages.to", "is not", null)
    .execute();
  expect(remaining).toEqual([]);
});

test("a send repeated after the contact was erased is not sent again", { tags: "both" }, async () => {
  const input = { to: "+14155550125", type: "text", text: { body: "hello" } } as const;
  const send = () => app.call(messages.send_message, input, { idempotencyKey: "before the erasure" });
  const { conversation_id: id } = (await send()).data;
  const { contact_id } = (await app.call(conversations.get_conversation, { id })).data;
  await app.call(contacts.delete_contact, { id: contact_id });
  expect(await expectFailure(send())).toMatchObject({ status: 404, code: "contact_not_found" });
  expect((await app.call(contacts.list_contacts, { search: "4155550125" })).data).toEqual([]);
});

test("an erased contact is not found, and the text of its messages is deleted", async () => {
  const sent = await app.call(messages.send_message, {
    to: "+14155550119",
    type: "text",
    text: { body: "secret" },
  });
  const [contact] = (await app.call(contacts.list_contacts, { search: "4155550119" })).data;
  const id = contact?.id ?? "";
  expect(await app.call(contacts.delete_contact, { id })).toEqual({ data: { id, deleted: true } });
  expect(await expectFailure(app.call(contacts.get_contact, { id }))).toMatchObject({ status: 404 });
  expect(await expectFailure(app.call(contacts.delete_contact, { id }))).toMatchObject({ status: 404 });
  const { conversation_id } = sent.data;
  expect(await expectFailure(app.call(messages.list_messages, { conversation_id }))).toMatchObject({
    status: 404,
  });
  await app.runDueJobs();
  const rows = await app.server.database.queries.selectFrom("messages").select(["content", "to"]).execute();
  expect(JSON.stringify(rows)).not.toContain("secret");
});

describe("tags of a new contact", () => {
  test("are set when it is created", async () => {
    const input = { phone_number: "+14155550131", tags: ["VIP", "vip", "spain"] };
    const { data } = await app.call(contacts.create_contact, input);
    expect(data.tags).toEqual(["vip", "spain"]);
    expect((await app.call(contacts.get_contact, { id: data.id })).data.tags).toEqual(data.tags);
  });

  test("are added to those of a contact that is found", async () => {
    const phone_number = "+14155550132";
    const { data } = await app.call(contacts.upsert_contact, { phone_number, tags: ["one"] });
    const again = await app.call(contacts.upsert_contact, { phone_number, name: "Ada", tags: ["two"] });
    expect(again.data).toMatchObject({ id: data.id, created: false, name: "Ada", tags: ["one", "two"] });
  });

  test("are all kept when calls meet", async () => {
    const phone_number = "+14155550133";
    const names = Array.from({ length: 8 }, (_, number) => `tag${number}`);
    await app.call(contacts.create_contact, { phone_number });
    await Promise.all(names.map((name) => app.call(contacts.upsert_contact, { phone_number, tags: [name] })));
    const { data } = await app.call(contacts.upsert_contact, { phone_number });
    expect([...data.tags].sort()).toEqual(names);
  });

  test.each([contacts.create_contact, contacts.upsert_contact])(
    "need the scope that changes tags ($method)",
    async (operation) => {
      const { access_token } = await signIn(app, ownerEmail, ownerPassword);
      const key = await createUserKey(app, ["contacts:read", "contacts:write"], access_token);
      const input = { phone_number: "+14155550134", tags: ["vip"] };
      const failure = await expectFailure(app.call(operation, input, { key }));
      expect(failure).toMatchObject({ status: 403, code: "insufficient_scope" });
      expect(failure.error?.message).toContain("contacts:manage");
      expect((await app.call(contacts.list_contacts, { search: "+14155550134" })).data).toEqual([]);
    },
  );
});

test("a change of tags says which tags are added or removed", async () => {
  const { data } = await app.call(contacts.create_contact, { phone_number: "+14155550135" });
  const tag = (change: object) => expectFailure(app.call(contacts.tag_contact, { id: data.id, ...change }));
  expect(await tag({})).toMatchObject({ status: 400, error: { param: "add" } });
  const both = await tag({ add: ["new", "VIP"], remove: ["vip"] });
  expect(both).toMatchObject({ status: 400, error: { param: "remove" } });
  expect(both.message).toContain("not in both");
});
