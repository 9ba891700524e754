/** Cohorts: saved audiences, their counts, previews and descriptions. */
import { beforeAll, describe, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { cohorts, maxDeclaredAttributes } from "../tools/cohorts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();
const day = 24 * 3_600_000;

const vip = { attribute: "tags", operator: "has_any", value: ["VIP"] };
const inGermany = { attribute: "country", operator: "eq", value: "de" };
const silent = { attribute: "last_user_message_at", operator: "not_within_last", value: "30d" };

/** Ada writes today, Bea wrote 40 days ago, Cem never; Dora is in another country. */
beforeAll(async () => {
  const people = [
    ["+4915112345601", "Ada Öztürk", ["vip"], { city: "München", plan: "pro", visits: 12 }],
    ["+4915112345602", "Bea", ["vip"], { city: "BERLIN", address: { zip: "10115" } }],
    ["+4915112345603", "Cem", [], { city: "Köln", hobbies: ["golf", "Tennis"] }],
    ["+33612345604", "Dora", ["vip"], {}],
  ] as const;
  for (const [phone_number, name, tags, metadata] of people) {
    const { data } = await app.call(contacts.create_contact, { phone_number, name, metadata });
    await app.call(contacts.tag_contact, { id: data.id, add: [...tags] });
  }
  await openPhone(app, "+4915112345602").write("hello");
  await app.advanceTime(40 * day);
  await openPhone(app, "+4915112345601").write("hello");
  await app.runDueJobs();
});

const preview = async (query: object, key?: string) =>
  (await app.call(cohorts.preview_cohort, { query: { ...query }, sample: true }, key ? { key } : {})).data;
const namesOf = async (query: object) => ((await preview(query)).sample ?? []).map(({ name }) => name).sort();

describe("a query selects", () => {
  test.each<[string, object, string[]]>([
    ["by country, tag and silence", { and: [inGermany, vip, silent] }, ["Bea"]],
    ["who never wrote", { attribute: "last_user_message_at", operator: "not_exists" }, ["Cem", "Dora"]],
    [
      "text in any case",
      { attribute: "metadata.city", operator: "in", value: ["berlin", "MÜNCHEN"] },
      ["Ada Öztürk", "Bea"],
    ],
    [
      "parts of a name with other letters",
      { attribute: "name", operator: "contains", value: "ÖZT" },
      ["Ada Öztürk"],
    ],
    ["nested metadata", { attribute: "metadata.address.zip", operator: "exists" }, ["Bea"]],
    ["elements of a list", { attribute: "metadata.hobbies", operator: "contains", value: "tennis" }, ["Cem"]],
    ["numbers", { attribute: "metadata.visits", operator: "gte", value: 12 }, ["Ada Öztürk"]],
    [
      "by conversation",
      { attribute: "conversation.status", operator: "eq", value: "open" },
      ["Ada Öztürk", "Bea"],
    ],
    ["who has none", { not: { attribute: "conversation.status", operator: "exists" } }, ["Cem", "Dora"]],
    ["everybody", {}, ["Ada Öztürk", "Bea", "Cem", "Dora"]],
  ])("%s", async (_, query, names) => {
    expect(await namesOf(query)).toEqual(names);
  });
});

test("a preview counts each condition, and saves nothing", async () => {
  const { contact_count, funnel } = await preview({ and: [inGermany, vip, silent] });
  expect(contact_count).toBe(1);
  expect(funnel).toEqual([
    { conditions: ["query.and[0]"], matching: 3, remaining: 3 },
    { conditions: ["query.and[1]"], matching: 3, remaining: 2 },
    { conditions: ["query.and[2]"], matching: 3, remaining: 1 },
  ]);
  expect((await app.call(cohorts.preview_cohort, { query: {} })).data).toEqual({ contact_count: 4 });
  expect((await app.call(cohorts.list_cohorts, {})).data).toEqual([]);
});

test("without contacts:read the people of a preview are masked", async () => {
  const { data } = await app.call(apiKeys.create_api_key, { name: "planner", scopes: ["broadcasts:create"] });
  const { sample } = await preview({ attribute: "name", operator: "eq", value: "bea" }, data.secret_key);
  expect(sample).toEqual([{ id: null, phone_number: "+49******02", name: "B***", tags: [] }]);
});

test("conditions of one group are about one conversation", { tags: "both" }, async () => {
  const open = { attribute: "conversation.status", operator: "eq", value: "open" };
  const favorite = { attribute: "conversation.is_favorite", operator: "eq", value: true };
  const { funnel, contact_count } = await preview({ and: [open, vip, favorite] });
  expect(contact_count).toBe(0);
  expect(funnel?.at(-1)).toEqual({ conditions: ["query.and[0]", "query.and[2]"], matching: 0, remaining: 0 });
});

describe("a saved cohort", () => {
  test("is listed, read, changed, counted and deleted", async () => {
    const query = { and: [inGermany, vip] };
    const { data: cohort } = await app.call(cohorts.create_cohort, { name: "German VIPs", query });
    expect(cohort).toMatchObject({
      type: "query",
      status: "ready",
      query,
      contact_count: 2,
      csv_url: null,
      failure: null,
    });
    const { id } = cohort;
    expect((await app.call(cohorts.list_cohorts, { search: "german" })).data.map((one) => one.id)).toEqual([
      id,
    ]);
    const { data: members } = await app.call(cohorts.list_cohort_members, { id });
    expect(members.map(({ name }) => name).sort()).toEqual(["Ada Öztürk", "Bea"]);
    for (const member of members) {
      const { data, meta } = await app.call(cohorts.list_cohort_members, { id, contact_id: member.id });
      expect([data, meta.total]).toEqual([[member], 1]);
    }
    const { data: changed } = await app.call(cohorts.update_cohort, {
      id,
      query: vip,
      description: "all of them",
    });
    expect(changed).toMatchObject({ name: "German VIPs", description: "all of them", contact_count: 3 });
    expect((await app.call(cohorts.get_cohort, { id })).data).toMatchObject({ query: vip, errors: [] });
    await app.call(cohorts.delete_cohort, { id });
    expect(await expectFailure(app.call(cohorts.get_cohort, { id }))).toMatchObject({
      status: 404,
      code: "cohort_not_found",
    });
  });

  test("has no member for the id of a contact outside of it, of another tenant's, and of none", async () => {
    const { id } = (await app.call(cohorts.create_cohort, { name: "Germans", query: inGermany })).data;
    const [dora] = (await app.call(contacts.list_contacts, { search: "Dora" })).data;
    const { key } = await createOrganizationFor(app, "Other");
    const person = { phone_number: "+4915112345699" };
    const { data: foreign } = await app.call(contacts.create_contact, person, { key });
    for (const contact_id of [dora?.id ?? "", foreign.id, "con_none"]) {
      const { data, meta } = await app.call(cohorts.list_cohort_members, { id, contact_id });
      expect([data, meta.total]).toEqual([[], 0]);
    }
  });

  test.each<[string, Parameters<typeof create>[0], string, string]>([
    [
      "a wrong operator",
      { query: { and: [vip, { ...inGermany, operator: "gt" }] } },
      "query.and[1].operator",
      "operator_not_applicable",
    ],
    [
      "an unknown attribute",
      { query: { attribute: "city", operator: "eq", value: "x" } },
      "query.attribute",
      "unknown_attribute",
    ],
    [
      "an attribute of messages",
      { query: { attribute: "message.text", operator: "eq", value: "x" } },
      "query.attribute",
      "unknown_attribute",
    ],
    ["csv without a file", { type: "csv", query: {} }, "csv_url", "invalid_request"],
    [
      "csv with a query",
      { type: "csv", query: vip, csv_url: "https://example.com/a.csv" },
      "query",
      "invalid_request",
    ],
    [
      "a query with a file",
      { query: vip, csv_url: "https://example.com/a.csv" },
      "csv_url",
      "invalid_request",
    ],
    [
      "a private address",
      { type: "csv", query: {}, csv_url: "http://10.0.0.1/a.csv" },
      "csv_url",
      "url_not_allowed",
    ],
  ])("is rejected with %s, naming the place", async (_, input, field, code) => {
    const failure = await create(input).then(
      () => undefined,
      (error) => error,
    );
    expect(failure).toMatchObject({ status: 400, code });
    expect(failure.error.details[0].field).toBe(field);
  });
});

function create(
  input: Partial<Parameters<typeof app.call<typeof cohorts.create_cohort>>[1]> & {
    query: Record<string, unknown>;
  },
) {
  return app.call(cohorts.create_cohort, { name: "x", ...input });
}

test("the description has all that a query needs", async () => {
  const { data } = await app.call(cohorts.describe_attributes, {});
  expect(data.tags).toEqual(["vip"]);
  expect(data.metadata_attributes).toContainEqual({
    attribute: "metadata.address.zip",
    types: ["text"],
    contacts: 1,
  });
  expect(data.metadata_attributes).toContainEqual({
    attribute: "metadata.visits",
    types: ["number"],
    contacts: 1,
  });
  expect(data.metadata_attributes.map(({ attribute }) => attribute)).not.toContain("metadata.address");
  for (const { query } of data.examples) {
    expect((await app.call(cohorts.preview_cohort, { query })).data.contact_count).toBeGreaterThanOrEqual(0);
  }
});

test("a country of a new number is found after the number was added", async () => {
  const phone = openPhone(app, "+4915112345699");
  await phone.write("hi");
  expect(await namesOf({ attribute: "phone_number", operator: "ends_with", value: "699" })).toHaveLength(1);
  expect((await preview(inGermany)).contact_count).toBe(4);
  const [added] = (await app.call(contacts.list_contacts, { search: "+4915112345699" })).data;
  await app.call(contacts.delete_contact, { id: added?.id ?? "" });
});

describe("an attribute declared as a date", () => {
  const recent = { attribute: "metadata.crm.signed_up", operator: "after", value: "2026-03-01T00:00:00Z" };
  const declared = async () =>
    (await app.call(cohorts.describe_attributes, {})).data.declared_attributes.map(
      ({ attribute, status }) => `${attribute} ${status}`,
    );
  const sign = (phone_number: string, signed_up: unknown) =>
    app.call(contacts.upsert_contact, {
      phone_number,
      name: `${signed_up}`,
      metadata: { crm: { signed_up } },
    });
  const storedDates = async () => {
    const { queries } = app.server.database;
    const rows = await queries
      .selectFrom("contacts")
      .select("dates")
      .where("dates", "is not", null)
      .execute();
    return rows.flatMap(({ dates }) => dates ?? []).sort();
  };

  test("selects the same contacts at any time, and stores their dates", { tags: "both" }, async () => {
    await sign("+4915112345701", "2026-05-01");
    await sign("+4915112345702", "2026-02-01");
    await sign("+4915112345703", ["2026-02-01", "2026-05-01T10:00:00+02:00"]);
    await sign("+4915112345704", "soon");
    const before = await namesOf(recent);
    expect(before).toEqual(["2026-02-01,2026-05-01T10:00:00+02:00", "2026-05-01"]);

    const input = { name: "metadata.crm.signed_up", type: "date" } as const;
    const { data } = await app.call(cohorts.declare_attribute, input);
    expect(data).toEqual({ attribute: "metadata.crm.signed_up", type: "date", status: "preparing" });
    expect(await declared()).toEqual(["metadata.crm.signed_up preparing"]);
    expect(await namesOf(recent)).toEqual(before);

    await app.runDueJobs();
    expect(await declared()).toEqual(["metadata.crm.signed_up ready"]);
    expect(await storedDates()).toEqual(["2026-02-01T00:00:00.000Z", "2026-05-01T00:00:00.000Z"]);
    expect(await namesOf(recent)).toEqual(before);

    await sign("+4915112345702", "2026-06-01");
    await sign("+4915112345701", "never");
    await sign("+4915112345705", "2026-07-01");
    expect(await storedDates()).toEqual(["2026-06-01T00:00:00.000Z", "2026-07-01T00:00:00.000Z"]);
    expect(await namesOf(recent)).toEqual([
      "2026-02-01,2026-05-01T10:00:00+02:00",
      "2026-06-01",
      "2026-07-01",
    ]);
  });

  test("loses the dates of an erased contact", async () => {
    const [contact] = (await app.call(contacts.list_contacts, { search: "+4915112345705" })).data;
    await app.call(contacts.delete_contact, { id: contact?.id ?? "" });
    expect(await storedDates()).toEqual(["2026-06-01T00:00:00.000Z"]);
  });

  test("can be undeclared and declared again, and is then right for contacts changed meanwhile", async () => {
    const name = "crm.signed_up";
    await app.call(cohorts.undeclare_attribute, { name });
    expect(await declared()).toEqual([]);
    expect(await expectFailure(app.call(cohorts.undeclare_attribute, { name }))).toMatchObject({
      status: 404,
      code: "attribute_not_declared",
    });
    await sign("+4915112345702", "2026-01-01");
    await sign("+4915112345701", "2026-08-01");
    const selected = ["2026-02-01,2026-05-01T10:00:00+02:00", "2026-08-01"];
    expect(await namesOf(recent)).toEqual(selected);
    // Of two declarations, the second begins again.
    await app.call(cohorts.declare_attribute, { name, type: "date" });
    await app.call(cohorts.declare_attribute, { name, type: "date" });
    expect(await namesOf(recent)).toEqual(selected);
    await app.runDueJobs();
    expect(await declared()).toEqual(["metadata.crm.signed_up ready"]);
    expect(await namesOf(recent)).toEqual(selected);
    const { data } = await app.call(cohorts.declare_attribute, { name, type: "date" });
    expect(data.status).toBe("ready");
  });

  test("is declared under the path of an earlier version too", async () => {
    const json = { type: "date" };
    const answer = await app.fetch("/v1/cohorts/attributes/crm.signed_up", { method: "PUT", json });
    expect(await answer.json()).toMatchObject({ data: { attribute: "metadata.crm.signed_up" } });
    const document = await (await app.fetch("/v1/openapi.json")).json();
    expect(JSON.stringify(document)).not.toContain("/v1/cohorts/attributes/{name}");
  });

  test.each([
    ["an empty name", "metadata."],
    ["an empty part", "crm..signed_up"],
  ])("is rejected with %s", async (_, name) => {
    expect(await expectFailure(app.call(cohorts.declare_attribute, { name, type: "date" }))).toMatchObject({
      status: 400,
      code: "invalid_request",
    });
  });

  test("is one of 50 at most", async () => {
    for (let n = 1; n < maxDeclaredAttributes; n += 1) {
      await app.call(cohorts.declare_attribute, { name: `date_${n}`, type: "date" });
    }
    const further = app.call(cohorts.declare_attribute, { name: "further", type: "date" });
    expect(await expectFailure(further)).toMatchObject({ status: 422, code: "too_many_declared_attributes" });
    await app.call(cohorts.declare_attribute, { name: "date_1", type: "date" });
  });
});
