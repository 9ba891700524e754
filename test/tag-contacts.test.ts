/** `tag_contacts`: the tags of all contacts of a cohort or a query. */
import { beforeAll, describe, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { cohorts } from "../tools/cohorts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { tagLimits } from "../tools/contract/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOrganizationFor } from "./support/operator.ts";

const app = useTestApp();

const inParis = { attribute: "metadata.city", operator: "eq", value: "Paris" };
const tag = (input: object) => app.call(cohorts.tag_contacts, input).then(({ data }) => data);
const tagsOf = async (id: string) => (await app.call(contacts.get_contact, { id })).data.tags;

const people: string[] = [];
beforeAll(async () => {
  for (const [index, city] of ["Paris", "Paris", "Rome"].entries()) {
    const input = { phone_number: `+3361234570${index}`, name: "Élodie", metadata: { city }, tags: ["old"] };
    people.push((await app.call(contacts.upsert_contact, input)).data.id);
  }
});

test("adds and removes tags of those whom a query selects, once", async () => {
  const change = { query: inParis, add: ["VIP"], remove: ["old"] };
  const types = "contact.tag_added";
  const { cursor: after } = (await app.call(webhooks.list_events, { types })).meta;
  expect(await tag(change)).toEqual({ changed: 2, rejected: 0, remaining: 0 });
  expect(await Promise.all(people.map(tagsOf))).toEqual([["vip"], ["vip"], ["old"]]);
  expect(await tag(change)).toEqual({ changed: 0, rejected: 0, remaining: 0 });
  const { data: events } = await app.call(webhooks.list_events, { types, after });
  expect(events.map(({ data }) => data)).toMatchObject(
    people.slice(0, 2).map((contact_id) => ({ contact_id, tags: ["vip"], actor: { type: "api_key" } })),
  );
  const byName = { and: [{ attribute: "name", operator: "eq", value: "ÉLODIE" }, inParis] };
  expect((await app.call(cohorts.preview_cohort, { query: byName })).data.contact_count).toBe(2);
});

test("takes a cohort", async () => {
  const { data: cohort } = await app.call(cohorts.create_cohort, { name: "Paris", query: inParis });
  expect(await tag({ cohort_id: cohort.id, add: ["french"] })).toMatchObject({ changed: 2 });
  expect(await tagsOf(people[0] ?? "")).toEqual(["vip", "french"]);
});

test("leaves out who would have too many tags, and says how many", async () => {
  const many = Array.from({ length: tagLimits.count }, (_, index) => `tag-${index}`);
  const more = Array.from({ length: tagLimits.count }, (_, index) => `more-${index}`);
  const rome = { ...inParis, value: "Rome" };
  for (let count = 0; count + many.length <= 200; count += many.length) {
    await tag({ query: rome, add: many.map((name) => `${name}-${count}`), remove: ["old"] });
  }
  expect(await tag({ query: rome, add: more })).toEqual({ changed: 0, rejected: 1, remaining: 0 });
});

describe("it is rejected", () => {
  test.each([
    ["without an audience", { add: ["x"] }, "cohort_id"],
    ["with two audiences", { cohort_id: "coh_x", query: {}, add: ["x"] }, "query"],
    ["without tags", { query: {} }, "add"],
    ["with a tag in add and remove", { query: {}, add: ["VIP"], remove: ["vip "] }, "remove"],
    ["with a wrong query", { query: { attribute: "shoe" }, add: ["x"] }, "query.attribute"],
  ])("%s", async (_, input, param) => {
    expect(await expectFailure(app.call(cohorts.tag_contacts, input))).toMatchObject({
      status: 400,
      error: { param },
    });
  });

  test("for an unknown cohort, and for a key that only reads", async () => {
    const unknown = app.call(cohorts.tag_contacts, { cohort_id: "coh_x", add: ["x"] });
    expect(await expectFailure(unknown)).toMatchObject({ status: 404, code: "cohort_not_found" });
    const { data } = await app.call(apiKeys.create_api_key, { name: "reader", scopes: ["contacts:read"] });
    const forbidden = app.call(cohorts.tag_contacts, { query: {}, add: ["x"] }, { key: data.secret_key });
    expect(await expectFailure(forbidden)).toMatchObject({ status: 403, code: "insufficient_scope" });
  });
});

test("another organization's contacts stay as they are", async () => {
  const other = await createOrganizationFor(app, "Other");
  const before = await Promise.all(people.map(tagsOf));
  const input = { query: {}, add: ["taken"] };
  const { data } = await app.call(cohorts.tag_contacts, input, { key: other.key });
  expect(data.changed).toBe(0);
  expect(await Promise.all(people.map(tagsOf))).toEqual(before);
});
