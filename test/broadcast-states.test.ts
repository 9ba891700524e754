/** The states of a broadcast: scheduled, paused, resumed, cancelled, retried, and what each refuses. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { internalFailures } from "../src/platform/inbox/messages/wording/index.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { cohorts } from "../tools/cohorts/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { templates } from "../tools/templates/index.ts";
import { useTestApp } from "./support/app.ts";
import { cancelDuring, createBroadcastHelpers, phoneNumbers } from "./support/broadcasts.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone, setFaults } from "./support/simulator.ts";

const app = useTestApp();
const { approve, create, createCohort, deliver, execute, fillCohort, get, recipients } =
  createBroadcastHelpers(app);

const numbers = phoneNumbers(6, 417);
const hourMs = 3_600_000;
let content: { name: string; cohort_id: string; template_id: string };

beforeAll(async () => {
  const { cohort } = await createCohort(numbers);
  const template = await approve({ name: "news", template_data: { body: "We have news for you." } });
  content = { name: "News", cohort_id: cohort.id, template_id: template.id };
});
beforeEach(() => setFaults(app, {}));

const at = (ms: number) => new Date(app.now().getTime() + ms).toISOString();
const call = (name: "pause" | "resume" | "cancel", id: string) =>
  app.call(broadcasts[`${name}_broadcast`], { id }).then(({ data }) => data);
const templatesOn = async (number: string) =>
  (await openPhone(app, number).listMessages()).filter(({ type }) => type === "template").length;

test("a scheduled broadcast is executed at its time", async () => {
  const { id } = await create({ ...content, scheduled_at: at(hourMs) });
  const before = await templatesOn(numbers[0] ?? "");
  await app.advanceTime(hourMs - 1_000);
  expect(await get(id)).toMatchObject({ execution_status: "scheduled", started_at: null });
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { total: 6, sent: 6 } });
  expect(await templatesOn(numbers[0] ?? "")).toBe(before + 1);
});

test("a scheduled broadcast that is rescheduled, or made a draft, keeps to the last decision", async () => {
  const { id } = await create({ ...content, scheduled_at: at(hourMs) });
  const update = (scheduled_at: string | null) => app.call(broadcasts.update_broadcast, { id, scheduled_at });
  expect((await update(at(3 * hourMs))).data.execution_status).toBe("scheduled");
  await app.advanceTime(2 * hourMs);
  expect((await get(id)).execution_status).toBe("scheduled");
  expect((await update(null)).data).toMatchObject({ execution_status: "draft", scheduled_at: null });
  await app.advanceTime(2 * hourMs);
  expect((await get(id)).execution_status).toBe("draft");
});

test("a schedule that was missed by more than an hour pauses, and goes on when it is resumed", async () => {
  const { id } = await create({ ...content, scheduled_at: at(hourMs) });
  await app.server.database.queries
    .updateTable("jobs")
    .set({ run_at: at(3 * hourMs) })
    .where("name", "=", "broadcast.start")
    .execute();
  await app.advanceTime(3 * hourMs + 1_000);
  expect(await get(id)).toMatchObject({ execution_status: "paused", paused_reason: "missed_schedule" });
  expect(await call("resume", id)).toMatchObject({ execution_status: "processing", recipient_count: 6 });
  await deliver();
  expect((await get(id)).execution_status).toBe("completed");
});

test.each([
  ["in the past", -1_000],
  ["more than 30 days ahead", 31 * 24 * hourMs],
])("a schedule %s is rejected", async (reason, ms) => {
  const failure = await expectFailure(create({ ...content, scheduled_at: at(ms) }));
  expect(failure).toMatchObject({ status: 400, code: "schedule_invalid" });
  expect(failure.message).toContain(reason);
});

test("a paused broadcast sends nothing more until it is resumed, and then everything once", async () => {
  const { id } = await create(content);
  const before = await templatesOn(numbers[0] ?? "");
  await execute(id);
  expect(await call("pause", id)).toMatchObject({ execution_status: "paused", paused_reason: "requested" });
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "paused", stats: { total: 6, sent: 0 } });
  expect(await call("resume", id)).toMatchObject({ execution_status: "processing", paused_reason: null });
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { sent: 6 } });
  expect(await templatesOn(numbers[0] ?? "")).toBe(before + 1);
});

test("a cancelled broadcast excludes who is pending, who can be sent to by a retry", async () => {
  const { id } = await create(content);
  await execute(id);
  expect(await call("cancel", id)).toMatchObject({
    execution_status: "cancelled",
    recipient_count: 0,
    excluded: { cancelled: 6 },
  });
  await deliver();
  expect((await recipients(id)).map(({ status, reason }) => [status, reason])).toEqual(
    numbers.map(() => ["excluded", "cancelled"]),
  );
  const retried = await app.call(broadcasts.retry_broadcast, { id, scope: "pending" });
  expect(retried.data).toMatchObject({
    execution_status: "processing",
    recipient_count: 6,
    excluded: {},
    retried: 6,
  });
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { total: 6, sent: 6 } });
});

test("a recipient whose row is locked is passed over, and sent to when it is free", {
  tags: "postgres",
}, async () => {
  // More than one batch.
  const cohort = await fillCohort(260, 427);
  const { id } = await create({ ...content, cohort_id: cohort.id });
  await execute(id);
  await app.server.database.transaction(async (tx) => {
    await tx
      .selectFrom("broadcast_recipients")
      .select("contact_id")
      .where("broadcast_id", "=", id)
      .orderBy("contact_id")
      .limit(1)
      .forUpdate()
      .executeTakeFirstOrThrow();
    await deliver();
    expect(await get(id)).toMatchObject({ execution_status: "processing", stats: { total: 260, sent: 259 } });
  });
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { total: 260, sent: 260 } });
});

test("a retry sends to those again whose message failed for a passing reason", async () => {
  const [first = "", second = ""] = numbers;
  await setFaults(app, {
    failures: [
      { code: 131016, to: first },
      { code: 131026, to: second },
    ],
  });
  const { id } = await create(content);
  await execute(id);
  await deliver();
  expect(await get(id)).toMatchObject({
    execution_status: "completed",
    stats: { total: 6, sent: 4, failed: 2 },
  });
  await setFaults(app, {});
  const retry = (options: object) => app.call(broadcasts.retry_broadcast, { id, ...options });
  const { data } = await retry({});
  expect(data).toMatchObject({
    execution_status: "processing",
    stats: { total: 6, sent: 4, failed: 1 },
    retried: 1,
  });
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { sent: 5, failed: 1 } });
  expect((await retry({})).data).toMatchObject({ execution_status: "completed", retried: 0 });
  await retry({ only_retryable: false });
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { sent: 6, failed: 0 } });
});

test("a retry sends to those again whose message may have arrived only with include_unconfirmed", async () => {
  const { id } = await create(content);
  await execute(id);
  await deliver();
  const { queries } = app.server.database;
  const error = JSON.stringify(internalFailures.unconfirmed);
  const ofBroadcast = queries.updateTable("messages").where("broadcast_id", "=", id);
  await ofBroadcast.set({ status: "failed", error }).execute();
  const failed = { stats: { total: 6, sent: 0, failed: 6 } };
  await queries
    .updateTable("broadcasts")
    .set({ failed: 6, sent: 0, delivered: 0, read: 0 })
    .where("id", "=", id)
    .execute();
  const retry = async (options: object) =>
    (await app.call(broadcasts.retry_broadcast, { id, ...options })).data;
  expect(await retry({})).toMatchObject({ ...failed, retried: 0 });
  expect(await retry({ only_retryable: false })).toMatchObject({ ...failed, retried: 0 });
  expect(await retry({ include_unconfirmed: true })).toMatchObject({ retried: 6 });
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { sent: 6, failed: 0 } });
});

test("a broadcast pauses when many of its messages fail, and leaves the others pending", async () => {
  const cohort = await fillCohort(1_300);
  await setFaults(app, { failures: [{ code: 131000, share: 0.2 }] });
  const { id } = await create({ ...content, cohort_id: cohort.id });
  await execute(id);
  await deliver();
  const { execution_status, paused_reason, stats } = await get(id);
  expect({ execution_status, paused_reason }).toEqual({
    execution_status: "paused",
    paused_reason: "too_many_failures",
  });
  expect(stats.sent + stats.failed).toBe(1_000);
  await call("cancel", id);
});

test("a broadcast does not pause for failures that say something of the person", async () => {
  const cohort = await fillCohort(50);
  await setFaults(app, { failures: [{ code: 131026 }] });
  const { id } = await create({ ...content, cohort_id: cohort.id });
  await execute(id);
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { failed: 50 } });
});

test("a template that a broadcast is sending can't be withdrawn, and one that is paused pauses it", async () => {
  const { id } = await create(content);
  await execute(id);
  await call("pause", id);
  const withdrawn = app.call(templates.delete_template, { id: content.template_id });
  expect(await expectFailure(withdrawn)).toMatchObject({ status: 409, code: "template_in_use" });
  const setStatus = (review_status: "approved" | "paused") =>
    app.server.database.queries
      .updateTable("templates")
      .set({ review_status })
      .where("id", "=", content.template_id)
      .execute();
  await setStatus("paused");
  await call("resume", id);
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "paused", paused_reason: "template_not_sendable" });
  await setStatus("approved");
  await call("resume", id);
  await deliver();
  expect((await get(id)).execution_status).toBe("completed");
});

test("a broadcast that is cancelled while a batch finds its template paused stays cancelled", {
  tags: "postgres",
}, async () => {
  const { queries } = app.server.database;
  const setStatus = (review_status: "approved" | "paused") =>
    queries.updateTable("templates").set({ review_status }).where("id", "=", content.template_id).execute();
  const { id } = await create(content);
  await execute(id);
  await setStatus("paused");
  await cancelDuring(app, id, deliver);
  await setStatus("approved");
  expect(await get(id)).toMatchObject({ execution_status: "cancelled", paused_reason: null });
});

test("a cohort can't be deleted while a broadcast that has not begun needs it", async () => {
  const cohort = await fillCohort(1);
  const { id } = await create({ ...content, cohort_id: cohort.id });
  const remove = () => app.call(cohorts.delete_cohort, { id: cohort.id });
  expect(await expectFailure(remove())).toMatchObject({ status: 409, code: "cohort_in_use" });
  await execute(id);
  expect((await remove()).data.deleted).toBe(true);
  await deliver();
  expect((await get(id)).execution_status).toBe("completed");
});

test.each([
  ["execute", "completed", "draft or scheduled"],
  ["pause", "completed", "processing"],
  ["resume", "completed", "paused"],
  ["cancel", "completed", "draft or scheduled or processing or paused"],
  ["delete", "completed", "draft"],
  ["retry", "draft", "completed or cancelled"],
] as const)("%s is rejected for a %s broadcast", async (action, state, allowed) => {
  const { id } = await create(content);
  if (state === "completed") {
    await execute(id);
    await deliver();
  }
  const failure = await expectFailure(app.call(broadcasts[`${action}_broadcast`], { id }));
  expect(failure).toMatchObject({ status: 409, code: "broadcast_state", error: { current_state: state } });
  expect(failure.message).toContain(state);
  expect(failure.error?.fix).toContain(allowed);
});

test("an inbox with a daily limit sends the rest when the day is over", async () => {
  const [inbox] = (await app.call(inboxes.list_inboxes, {})).data;
  const change = (settings: object) => app.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings });
  await app.advanceTime(25 * hourMs);
  await change({ daily_limit: 4 });
  const { id } = await create(content);
  const { data } = await app.call(broadcasts.estimate_broadcast, { id });
  expect(data).toMatchObject({ recipient_count: 6, waiting: 2, duration_seconds: 24 * 3_600 });
  await execute(id);
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "processing", stats: { total: 6, sent: 4 } });
  await app.advanceTime(23 * hourMs);
  expect((await get(id)).stats.sent).toBe(4);
  await app.advanceTime(hourMs + 60_000);
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { sent: 6 } });
  await change({});
});

test("an inbox with a rate sends no more in any second", async () => {
  const [inbox] = (await app.call(inboxes.list_inboxes, {})).data;
  const change = (settings: object) => app.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings });
  await change({ messages_per_second: 2 });
  const { id } = await create(content);
  const { data } = await app.call(broadcasts.estimate_broadcast, { id });
  expect(data).toMatchObject({ waiting: 0, duration_seconds: 3 });
  await execute(id);
  const sent: number[] = [];
  for (let second = 0; second < 5; second += 1) {
    await app.advanceTime(1_000);
    sent.push((await get(id)).stats.sent);
  }
  expect(sent.every((count, index) => count - (sent[index - 1] ?? 0) <= 2)).toBe(true);
  await app.advanceTime(5_000);
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { sent: 6 } });
  await change({});
});
