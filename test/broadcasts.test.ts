/** Broadcasts: who gets the message, with which values, and what is counted. */
import { expect, test } from "vitest";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { inboxes } from "../tools/inboxes.ts";
import { useTestApp } from "./support/app.ts";
import { createBroadcastHelpers, phoneNumbers } from "./support/broadcasts.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();
const { approve, create, createCohort, deliver, execute, get, recipients } = createBroadcastHelpers(app);

test("a broadcast sends its template once to each contact of its cohort, and counts the receipts", {}, async () => {
  const numbers = phoneNumbers(5, 415);
  const { cohort } = await createCohort(numbers, { name: "Ann" });
  const template = await approve({
    name: "greeting",
    template_data: { body: "Hello {{1}}, welcome to our shop." },
  });
  const draft = await create({
    name: "Welcome",
    cohort_id: cohort.id,
    template_id: template.id,
    variable_mapping: { "1": "name" },
  });
  expect(draft).toMatchObject({ execution_status: "draft", recipient_count: 0 });
  const started = await execute(draft.id);
  expect(started).toMatchObject({ execution_status: "processing", recipient_count: 5, excluded: {} });
  await deliver();
  expect(await get(draft.id)).toMatchObject({
    execution_status: "completed",
    stats: { total: 5, sent: 5, delivered: 5, read: 0, failed: 0 },
  });
  for (const number of numbers) {
    expect((await openPhone(app, number).listMessages()).map(({ type }) => type)).toEqual(["template"]);
  }
  await openPhone(app, numbers[0] ?? "").read();
  const { data } = await app.call(broadcasts.get_broadcast_metrics, { id: draft.id });
  expect(data).toMatchObject({ pending: 0, sent: 5, delivered: 5, read: 1 });
  expect((await recipients(draft.id)).map(({ status }) => status).sort()).toEqual([
    "delivered",
    "delivered",
    "delivered",
    "delivered",
    "read",
  ]);
});

test("a broadcast to nobody answers processing, and then completes", async () => {
  const { cohort } = await createCohort([]);
  const template = await approve({ name: "unread", template_data: { body: "We have an offer." } });
  const { id } = await create({ name: "Nobody", cohort_id: cohort.id, template_id: template.id });
  expect(await execute(id)).toMatchObject({ execution_status: "processing", recipient_count: 0 });
  await app.runDueJobs();
  expect(await get(id)).toMatchObject({ execution_status: "completed", completed_at: expect.any(String) });
});

test("a broadcast names the field of what it does not find", async () => {
  const { cohort } = await createCohort([]);
  const template = await approve({ name: "missing", template_data: { body: "We have an offer." } });
  const input = { name: "Missing", cohort_id: cohort.id, template_id: template.id };
  const failureOf = async (fields: object) => {
    const { status, code, error } = await expectFailure(create({ ...input, ...fields }));
    return [status, code, error?.param];
  };
  expect(await failureOf({ inbox_id: "inb_x" })).toEqual([404, "inbox_not_found", "inbox_id"]);
  expect(await failureOf({ cohort_id: "coh_x" })).toEqual([404, "cohort_not_found", "cohort_id"]);
  expect(await failureOf({ template_id: "tpl_x" })).toEqual([404, "template_not_found", "template_id"]);
});

test("a broadcast can't be sent from another inbox than its template's", async () => {
  const { cohort } = await createCohort([]);
  const template = await approve({ name: "at_home", template_data: { body: "We have an offer." } });
  const { data: other } = await app.call(inboxes.create_inbox, {
    name: "Other",
    channel: "simulator",
    phone_number: "+14155550199",
  });
  const input = { name: "Elsewhere", cohort_id: cohort.id, template_id: template.id, inbox_id: other.id };
  const { status, code, error } = await expectFailure(create(input));
  expect([status, code, error?.param]).toEqual([422, "template_not_approved", "inbox_id"]);
});

test("a draft may be created without a mapping, and needs one to go on", async () => {
  const { cohort } = await createCohort(phoneNumbers(1, 417), { name: "Cem" });
  const template = await approve({ name: "unmapped", template_data: { body: "Hello {{1}}, how are you?" } });
  const input = { name: "Later", cohort_id: cohort.id, template_id: template.id };
  const { id, ...draft } = await create(input);
  expect(draft).toMatchObject({ execution_status: "draft", variable_mapping: {} });
  const scheduled_at = new Date(app.now().getTime() + 3_600_000).toISOString();
  const rejected = [
    () => create({ ...input, scheduled_at }),
    () => create({ ...input, variable_mapping: { "2": "name" } }),
    () => app.call(broadcasts.update_broadcast, { id, scheduled_at }),
    () => app.call(broadcasts.estimate_broadcast, { id }),
    () => app.call(broadcasts.test_broadcast, { id, to: "+14155550123" }),
    () => execute(id),
  ];
  for (const call of rejected) {
    expect(await expectFailure(call())).toMatchObject({ status: 422, code: "variables_unmapped" });
  }
  await app.call(broadcasts.update_broadcast, { id, name: "Soon" });
  await app.call(broadcasts.update_broadcast, { id, variable_mapping: { "1": "name" } });
  expect(await execute(id)).toMatchObject({ name: "Soon", recipient_count: 1, excluded: {} });
});

test("contacts are excluded who opted out, are blocked, or lack a value", async () => {
  const [plain = "", optedOut = "", blocked = "", nameless = ""] = phoneNumbers(4, 416);
  const { cohort, people } = await createCohort([plain, optedOut, blocked, nameless], { name: "Bob" });
  const [, second, third, fourth] = people;
  await app.call(contacts.update_contact, { id: second?.id ?? "", opted_out: true });
  await app.call(contacts.update_contact, { id: third?.id ?? "", blocked: true });
  await app.call(contacts.update_contact, { id: fourth?.id ?? "", name: "  " });
  const template = await approve({ name: "named", template_data: { body: "Hello {{1}}, how are you?" } });
  const input = { name: "Exclusions", cohort_id: cohort.id, template_id: template.id };
  const strict = await create({ ...input, variable_mapping: { "1": { attribute: "name" } } });
  expect(await execute(strict.id)).toMatchObject({
    recipient_count: 1,
    excluded: { opted_out: 1, blocked: 1, missing_variable: 1 },
  });
  const lenient = await create({
    ...input,
    variable_mapping: { "1": { attribute: "name", default: "there" } },
  });
  expect(await execute(lenient.id)).toMatchObject({
    recipient_count: 2,
    excluded: { opted_out: 1, blocked: 1 },
  });
  await deliver();
  const [, , last] = await openPhone(app, nameless)
    .listMessages()
    .then((all) => [0, 0, all.at(-1)]);
  expect(last).toMatchObject({ type: "template" });
});
