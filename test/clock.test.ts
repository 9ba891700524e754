/**
 * The clock of a sandbox: what passes while it moves, what it refuses, and that it never goes back.
 *
 * @module-tag embedded
 */
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { ConfigError, readConfig } from "../src/config/index.ts";
import { clock } from "../tools/clock.ts";
import { contacts } from "../tools/contacts.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { operatorKey, startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { lendTestDatabase } from "./support/database.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { chain, createFlowHelpers, say } from "./support/flows.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { asOperator } from "./support/operator.ts";
import { modulesWithRareUpkeep } from "./support/rare-upkeep.ts";
import { openPhone, setFaults } from "./support/simulator.ts";
import { createUserWithRole, signIn } from "./support/users.ts";
import { credentials } from "./support/whatsapp.ts";

const env = { TIDINGS_SANDBOX_CLOCK: "on" };
const [hour, day] = [3_600_000, 86_400_000];
const app = useTestApp({ env, runsJobs: true, enabledModules: modulesWithRareUpkeep() });

const move = async (where: { to: string } | { by: string }, as: TestApp = app) =>
  (await as.call(clock.move_clock, where, asOperator)).data;
/** Repeats the request until the clock has reached the time. */
async function moveAll(to: string, as = app): Promise<Awaited<ReturnType<typeof move>>> {
  const answer = await move({ to }, as);
  return answer.reached ? answer : moveAll(to, as);
}

const show = async (as: TestApp = app) => (await as.call(clock.get_clock, {}, asOperator)).data;

test("waits, schedules and expiries on the way have their times", async () => {
  const { create, runsOf } = createFlowHelpers(app);
  await create(
    chain(say("now"), { id: "wait", node_type: "wait", action_config: { duration: "1d" } }, say("later")),
  );
  await create([say("daily")], {
    trigger_type: "schedule",
    trigger_keyword: undefined,
    trigger_schedule: "0 9 * * *",
  });
  const { email } = await createUserWithRole(app, "agent");
  const session = await signIn(app, email);
  const { conversation_id } = await openPhone(app, "+14155550101").write("hi");
  // The start runs at once; its wait begins before the clock is moved.
  await expect.poll(async () => (await runsOf(conversation_id))[0]?.status).toBe("waiting");
  const before = await show();
  const start = Date.parse(before.now);

  const answer = await moveAll(new Date(start + 2 * day).toISOString());

  expect(answer).toEqual({
    now: new Date(start + 2 * day).toISOString(),
    to: new Date(start + 2 * day).toISOString(),
    ahead_seconds: before.ahead_seconds + (2 * day) / 1000,
    is_movable: true,
    reached: true,
  });
  const { data } = await app.call(messages.list_messages, { conversation_id, per_page: 100 });
  const sent = data.filter(({ direction }) => direction === "outbound").reverse();
  const timesOf = (text: string) =>
    sent.filter((message) => message.text?.body === text).map(({ created_at }) => created_at);
  expect(timesOf("later")).toEqual([new Date(start + day).toISOString()]);
  const first = new Date(start).setUTCHours(9, 0, 0, 0);
  const firstDaily = first <= start ? first + day : first;
  expect(timesOf("daily")).toEqual(
    Array.from({ length: 2 }, (_, index) => new Date(firstDaily + index * day).toISOString()),
  );
  const failure = await expectFailure(app.call(contacts.list_contacts, {}, { key: session.access_token }));
  expect(failure).toMatchObject({ status: 401, code: "credential_invalid" });
});

test("a job that the clock reaches while another one runs is not run twice", async () => {
  await setFaults(app, { accept_delay_ms: 300 });
  const phone = openPhone(app, "+14155550102");
  const { conversation_id } = await phone.write("hello");
  await app.call(messages.send_message, { to: "+14155550102", type: "text", text: { body: "once" } });
  // The first of the two moves the clock; the other one is refused if it comes meanwhile.
  const moves = await Promise.allSettled([move({ by: "10m" }), move({ by: "10m" })]);
  expect(moves.map(({ status }) => status)).toContain("fulfilled");
  await setFaults(app, {});
  const { data } = await app.call(messages.list_messages, { conversation_id });
  // At nine in the morning the clock passes the time of the daily flow.
  const isOwn = ({ text }: { text?: { body: string } | null | undefined }) => text?.body === "once";
  expect(data.filter(isOwn)).toMatchObject([{ status: "delivered" }]);
  expect((await phone.listMessages()).filter(isOwn)).toHaveLength(1);
});

test("two requests can't move it at once", async () => {
  const { jobs } = app.server;
  const whenIdle = jobs.whenIdle.bind(jobs);
  let resume = () => {};
  const held = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const waiting = vi.spyOn(jobs, "whenIdle").mockImplementationOnce(async () => {
    await held;
    return whenIdle();
  });
  const first = await meanwhile(move({ by: "5m" }), async () => {
    await expect.poll(() => waiting).toHaveBeenCalledOnce();
    expect(await expectFailure(move({ by: "5m" }))).toMatchObject({ code: "clock_moving", status: 409 });
    resume();
  });
  expect(first).toMatchObject({ reached: true });
  await expect(move({ by: "1s" })).resolves.toMatchObject({ reached: true });
});

test.each([
  [{ to: "2020-01-01T00:00:00Z" }, "clock_time_invalid"],
  [{ to: "2090-01-01T00:00:00Z" }, "clock_time_invalid"],
  [{}, "invalid_request"],
  [{ to: "2030-01-01T00:00:00Z", by: "1h" }, "invalid_request"],
  [{ by: "31d" }, "invalid_request"],
])("%j is rejected", async (where, code) => {
  const before = await show();
  const failure = await expectFailure(move(where as { by: string }));
  expect(failure).toMatchObject({ status: 400, code });
  expect(await show()).toEqual(before);
});

test("it moves to any time from the present one on, and not to an earlier one", async () => {
  const { now } = await show();
  expect(await move({ to: now })).toMatchObject({ now, reached: true });
  const earlier = new Date(Date.parse(now) - 1).toISOString();
  expect(await expectFailure(move({ to: earlier }))).toMatchObject({
    status: 400,
    code: "clock_time_invalid",
  });
  expect((await show()).now).toBe(now);
});

test("a move that can't be stored fails, and the clock keeps its time", async () => {
  await using other = await startTestApp({ env });
  const { queries } = other.server.database;
  await sql`alter table settings add constraint fixed check (name <> 'clock_ahead_ms')`.execute(queries);
  const before = await show(other);
  expect(await expectFailure(move({ by: "1h" }, other))).toMatchObject({ status: 500, code: "internal" });
  expect(await show(other)).toEqual(before);
  await sql`alter table settings drop constraint fixed`.execute(queries);
  const to = new Date(Date.parse(before.now) + hour).toISOString();
  expect(await moveAll(to, other)).toMatchObject({ now: to });
});

test("a service whose clock can be moved has no inbox of a real channel", async () => {
  const inbox = { name: "Real", phone_number: "+14155550190", channel: "whatsapp", credentials } as const;
  const failure = await expectFailure(app.call(inboxes.create_inbox, inbox));
  expect(failure).toMatchObject({ status: 409, code: "channel_in_sandbox" });
});

test("only the operator can move it", async () => {
  const failure = await expectFailure(app.call(clock.move_clock, { by: "1h" }));
  expect(failure).toMatchObject({ status: 401, code: "operator_key_required" });
});

test("a service that is not a sandbox shows its clock and can't move it", async () => {
  await using other = await startTestApp();
  expect(await show(other)).toEqual({ now: other.now().toISOString(), ahead_seconds: 0, is_movable: false });
  const failure = await expectFailure(move({ by: "1h" }, other));
  expect(failure).toMatchObject({ status: 409, code: "clock_not_movable" });
});

test("it keeps its time over restarts, and only a sandbox opens its database", async () => {
  await using database = await lendTestDatabase();
  const startsAt = new Date();
  const first = await startTestApp({ database, env, startsAt });
  await move({ by: "1h" }, first);
  await first[Symbol.asyncDispose]();
  await expect(startTestApp({ database, startsAt })).rejects.toThrow("Set TIDINGS_SANDBOX_CLOCK=on");
  await using second = await startTestApp({ database, env, startsAt });
  expect((await show(second)).now).toBe(new Date(startsAt.getTime() + hour).toISOString());
});

test.each([
  ["DATABASE_URL", { DATABASE_URL: "postgres://localhost/x" }],
  ["TIDINGS_LLM_URL", { TIDINGS_LLM_URL: "http://localhost:1/v1", TIDINGS_LLM_MODEL: "m" }],
  [
    "TIDINGS_S3_BUCKET",
    { TIDINGS_S3_BUCKET: "b-1", TIDINGS_S3_ACCESS_KEY_ID: "k", TIDINGS_S3_SECRET_ACCESS_KEY: "s" },
  ],
])("is refused with %s", (name, others) => {
  const read = () =>
    readConfig({ TIDINGS_OPERATOR_KEY: operatorKey, TIDINGS_SANDBOX_CLOCK: "on", ...others });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(`TIDINGS_SANDBOX_CLOCK takes off while ${name} is set`);
});

test("is refused without the operator's key", () => {
  expect(() => readConfig({ TIDINGS_SANDBOX_CLOCK: "on" })).toThrow("TIDINGS_OPERATOR_KEY takes a value");
});
