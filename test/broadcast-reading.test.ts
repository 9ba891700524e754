/**
 * What is read of a broadcast before and while it is sent: the estimate, the test
 * message, the wait, the list.
 */
import { describe, expect, test } from "vitest";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { createBroadcastHelpers, phoneNumbers } from "./support/broadcasts.ts";
import { expectFailure } from "./support/expect-failure.ts";

const app = useTestApp();
const { approve, create, createCohort, deliver, execute, get } = createBroadcastHelpers(app);

let names = 0;

async function createDraft(numbers: readonly string[], fields: object = {}, more: object = {}) {
  names += 1;
  const { cohort, people } = await createCohort(numbers, fields);
  const template = await approve({
    name: `reading_${names}`,
    template_data: { body: "Hello {{1}}, your city is {{2}} today." },
    variables: [
      { name: "first_name", component: "BODY" },
      { name: "city", component: "BODY" },
    ],
  });
  const draft = await create({
    name: `Reading ${names}`,
    cohort_id: cohort.id,
    template_id: template.id,
    variable_mapping: { first_name: "name", city: { attribute: "metadata.city", default: "Rome" } },
    ...more,
  });
  return { id: draft.id, people };
}

describe("an estimate", () => {
  test("counts recipients, exclusions and costs by country, and changes nothing", async () => {
    const { id, people } = await createDraft([...phoneNumbers(2, 604), "+4930123456", "+4930123457"], {
      name: "Ann",
    });
    await app.call(contacts.update_contact, { id: people[0]?.id ?? "", blocked: true });
    await app.call(contacts.update_contact, { id: people[3]?.id ?? "", name: "" });
    const { data } = await app.call(broadcasts.estimate_broadcast, { id });
    expect(data).toMatchObject({
      recipient_count: 2,
      excluded: { blocked: 1, missing_variable: 1 },
      excluded_samples: [
        { reason: "blocked", contact_id: people[0]?.id, name: "Ann", missing_variables: [] },
        {
          reason: "missing_variable",
          contact_id: people[3]?.id,
          name: null,
          missing_variables: ["first_name"],
        },
      ],
      missing_variables: { first_name: 1 },
      warnings: [],
      is_affordable: true,
    });
    const sum = data.costs.reduce((total, { cost }) => total + cost, 0);
    expect(data.costs.map(({ country, recipients }) => [country, recipients]).toSorted()).toEqual([
      ["CA", 1],
      ["DE", 1],
    ]);
    expect(data.cost).toBeCloseTo(sum, 6);
    expect(data.available_after).toBeCloseTo(data.available - sum, 6);
    expect(await get(id)).toMatchObject({ execution_status: "draft", recipient_count: 0 });
  });

  test("names the attribute that no contact has, and the one in another case", async () => {
    const variable_mapping = { first_name: "metadata.nick", city: "metadata.city" };
    const fields = { name: "Ann", metadata: { City: "Oslo" } };
    const { id } = await createDraft(phoneNumbers(3, 613), fields, { variable_mapping });
    expect((await app.call(broadcasts.estimate_broadcast, { id })).data).toMatchObject({
      recipient_count: 0,
      excluded: { missing_variable: 3 },
      missing_variables: { city: 3, first_name: 3 },
      warnings: [
        "No contact of the cohort has metadata.city; metadata.City exists. Names of attributes are case-sensitive.",
        "No contact of the cohort has metadata.nick.",
      ],
    });
  });

  test("is rejected once the broadcast is being sent", async () => {
    const { id } = await createDraft(phoneNumbers(1, 605), { name: "Ann" });
    await execute(id);
    expect(await expectFailure(app.call(broadcasts.estimate_broadcast, { id }))).toMatchObject({
      status: 409,
      code: "broadcast_state",
    });
  });
});

describe("a test message", () => {
  const bodyOf = async ({ message_id, conversation_id }: { message_id: string; conversation_id: string }) =>
    JSON.stringify((await app.call(messages.get_message, { message_id, conversation_id })).data);

  test("has the values of the contact, or the names of the variables for an unknown number", async () => {
    const [known = ""] = phoneNumbers(1, 606);
    const { id } = await createDraft([known], { name: "Bea", metadata: { city: "Oslo" } });
    const sent = (await app.call(broadcasts.test_broadcast, { id, to: known })).data;
    expect(await bodyOf(sent)).toContain("Hello Bea, your city is Oslo today.");
    const again = (await app.call(broadcasts.test_broadcast, { id, to: sent.conversation_id })).data;
    expect(again.conversation_id).toBe(sent.conversation_id);
    expect(await bodyOf(again)).toContain("Hello Bea, your city is Oslo today.");
    const unknown = (await app.call(broadcasts.test_broadcast, { id, to: "+16065550999" })).data;
    expect(await bodyOf(unknown)).toContain("Hello [first_name], your city is [city] today.");
    expect(await get(id)).toMatchObject({ execution_status: "draft", recipient_count: 0 });
  });
});

describe("a wait", () => {
  const wait = async (id: string, timeout_seconds = 20) =>
    (await app.call(broadcasts.wait_for_broadcast, { id, timeout_seconds })).data;

  test("ends when the broadcast completes", async () => {
    const { id } = await createDraft(phoneNumbers(3, 607), { name: "Ann" });
    await execute(id);
    expect(await wait(id, 0)).toMatchObject({ is_timed_out: true, total: 3, pending: 3, sent: 0 });
    const [answer] = await Promise.all([wait(id), deliver()]);
    expect(answer).toMatchObject({
      is_timed_out: false,
      execution_status: "completed",
      total: 3,
      pending: 0,
      sent: 3,
      failed: 0,
    });
  });

  test("ends when it is paused, and at once for a draft", async () => {
    const { id } = await createDraft(phoneNumbers(1, 608), { name: "Ann" });
    expect(await wait(id)).toMatchObject({ is_timed_out: false, execution_status: "draft" });
    await execute(id);
    const [answer] = await Promise.all([wait(id), app.call(broadcasts.pause_broadcast, { id })]);
    expect(answer).toMatchObject({ is_timed_out: false, execution_status: "paused", pending: 1 });
  });
});

test("broadcasts are listed newest first, by status and by a part of the name", async () => {
  const first = await createDraft(phoneNumbers(1, 609), { name: "Ann" }, { name: "Spring Sale 100%" });
  const second = await createDraft(phoneNumbers(1, 610), { name: "Ann" }, { name: "Autumn" });
  const list = async (filter: object) =>
    (await app.call(broadcasts.list_broadcasts, { status: "draft", ...filter })).data.map(({ id }) => id);
  expect((await list({})).slice(0, 2)).toEqual([second.id, first.id]);
  expect(await list({ search: "spring sale 100%" })).toEqual([first.id]);
  expect(await list({ search: "spring", status: "completed" })).toEqual([]);
});
