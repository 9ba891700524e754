/** The states of a conversation, under random sequences of events and through the API. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ConversationEvent,
  type ConversationState,
  transition,
} from "../src/platform/inbox/conversations/states.ts";
import { conversationStatuses, conversations } from "../tools/conversations.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { randomRuns } from "./support/iterations.ts";
import { openPhone } from "./support/simulator.ts";
import { createTeamWithMembers, findWrongChatCounts } from "./support/teams.ts";

const times = ["2030-01-01T00:00:00.000Z", "2030-01-02T00:00:00.000Z"] as const;

const eventArbitrary: fc.Arbitrary<ConversationEvent> = fc.oneof(
  fc.record({
    type: fc.constant("set" as const),
    status: fc.constantFrom(...conversationStatuses),
    snoozed_until: fc.constantFrom(undefined, ...times),
  }),
  fc.record({ type: fc.constant("inbound" as const), isTaken: fc.boolean() }),
  fc.constant({ type: "reply" as const }),
  fc.record({ type: fc.constant("wake" as const), until: fc.constantFrom(...times) }),
);

test("100,000 random sequences reach no illegal state and make no forbidden transition", () => {
  fc.assert(
    fc.property(fc.array(eventArbitrary, { maxLength: 12 }), (events) => {
      const start: ConversationState = { status: "open", snoozed_until: null, opens_on_answer: false };
      events.reduce((before, event) => {
        const after = transition(before, event) ?? before;
        const broken = Object.entries(rules).find(([, holds]) => !holds(before, event, after));
        if (broken) {
          throw new Error(`${broken[0]}: ${JSON.stringify({ before, event, after })}`);
        }
        return after;
      }, start);
    }),
    randomRuns(5_000, 100_000),
  );
});

/** What must hold for every step. */
const rules: Readonly<
  Record<string, (before: ConversationState, event: ConversationEvent, after: ConversationState) => boolean>
> = {
  "only a snoozed conversation has a wake time": (_, __, after) =>
    after.snoozed_until === null || after.status === "snoozed",
  "spam is left only by an update, to open or closed": (before, event, after) =>
    before.status !== "spam" ||
    ["spam", ...(event.type === "set" ? ["open", "closed"] : [])].includes(after.status),
  "an inbound message never leaves a conversation closed or snoozed": (_, event, after) =>
    event.type !== "inbound" || ["open", "pending", "spam"].includes(after.status),
  "only a pending conversation opens on an answer": (_, __, after) =>
    !after.opens_on_answer || after.status === "pending",
  "a message that a flow or the bot takes leaves no closed conversation open": (before, event, after) =>
    event.type !== "inbound" || before.status !== "closed" || (after.status === "pending") === event.isTaken,
  "only a message that nothing takes opens a pending conversation, unless it was set to pending": (
    before,
    event,
    after,
  ) =>
    event.type !== "inbound" ||
    before.status !== "pending" ||
    (after.status === "open") === (before.opens_on_answer && !event.isTaken),
  "an update sets the status, except out of spam": (before, event, after) =>
    event.type !== "set" || before.status === "spam" || after.status === event.status,
};

const app = useTestApp();

const update = (id: string, change: object) =>
  app.call(conversations.update_conversation, { id, ...change }).then(({ data }) => data);

test("a snooze beyond the largest timestamp is rejected", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550998").write("hi");
  const snooze = update(id, { status: "snoozed", snoozed_until: "9999-12-31T23:59:59-12:00" });
  expect(await expectFailure(snooze)).toMatchObject({ status: 400, code: "invalid_request" });
});

test("a snoozed conversation opens at its time, and not before", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550141").write("later, please");
  const snoozed_until = new Date(app.now().getTime() + 3_600_000).toISOString();
  expect(await update(id, { status: "snoozed", snoozed_until })).toMatchObject({
    status: "snoozed",
    snoozed_until,
  });
  await app.advanceTime(3_599_000);
  expect((await update(id, {})).status).toBe("snoozed");
  await app.advanceTime(1_000);
  expect(await update(id, {})).toMatchObject({ status: "open", snoozed_until: null });
});

test("a second snooze replaces the first; without a time it lasts until the contact writes", async () => {
  const from = openPhone(app, "+14155550142");
  const { conversation_id: id } = await from.write("later, please");
  const until = (hours: number) => new Date(app.now().getTime() + hours * 3_600_000).toISOString();
  await update(id, { status: "snoozed", snoozed_until: until(1) });
  await update(id, { status: "snoozed", snoozed_until: until(3) });
  await app.advanceTime(2 * 3_600_000);
  expect((await update(id, {})).status).toBe("snoozed");
  await update(id, { status: "snoozed" });
  await app.advanceTime(24 * 3_600_000);
  expect(await update(id, {})).toMatchObject({ status: "snoozed", snoozed_until: null });
  await from.write("now");
  expect((await update(id, {})).status).toBe("open");
});

test("a snooze into the past is rejected with its field", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550143").write("hi");
  const snoozed_until = app.now().toISOString();
  const failure = await expectFailure(update(id, { status: "snoozed", snoozed_until }));
  expect(failure).toMatchObject({ status: 400, code: "snooze_not_in_future" });
  expect(failure.error).toMatchObject({ param: "snoozed_until" });
});

test("spam can only be changed to open or closed", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550144").write("win a prize");
  await update(id, { status: "spam" });
  const failure = await expectFailure(update(id, { status: "pending" }));
  expect(failure).toMatchObject({ status: 409, code: "status_not_allowed" });
  expect(failure.message).toContain("spam");
  expect(failure.error).toMatchObject({ current_state: "spam", allowed: "open, closed" });
  expect((await update(id, { status: "open" })).status).toBe("open");
});

test("tags, favorite and unread change independently", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550145").write("hi");
  expect(await update(id, { add_tags: ["billing", "vip"], is_favorite: true })).toMatchObject({
    tags: ["billing", "vip"],
    is_favorite: true,
    is_unread: true,
    status: "open",
  });
  expect(await update(id, { remove_tags: ["billing"], is_unread: false })).toMatchObject({
    tags: ["vip"],
    is_favorite: true,
    is_unread: false,
  });
});

test("after random API calls every chat count equals a recount", async () => {
  const first = await createTeamWithMembers(app, {}, { Ada: { max_concurrent_chats: 2 }, Bob: {} });
  const second = await createTeamWithMembers(app, { tier: 2 }, { Cyd: { max_concurrent_chats: 1 } });
  const input = { name: "all", strategy: "load_balanced", target_type: "team", target_id: first.id } as const;
  await app.call(routing.create_routing_policy, input);
  const users = [...Object.values(first.users), ...Object.values(second.users)];
  const numbers = ["+14155550151", "+14155550152", "+14155550153", "+14155550154", "+14155550155"];
  const ids = await Promise.all(
    numbers.map(async (number) => (await openPhone(app, number).write("hi")).conversation_id),
  );
  const pick = <Value>(list: readonly Value[]) => fc.nat().map((n) => list[n % list.length] as Value);
  const conversationIndex = fc.nat({ max: numbers.length - 1 });
  const steps = {
    write: (n: number) => openPhone(app, numbers[n] ?? "").write("hi"),
    set: (n: number, s: number) =>
      update(ids[n] ?? "", { status: conversationStatuses[s % conversationStatuses.length] }),
    assign: (n: number, s: number) => {
      const assigned_to = users[s % users.length] ?? "";
      return app.call(conversations.assign_conversation, { id: ids[n] ?? "", assigned_to });
    },
    team: (n: number, s: number) => {
      const team_id = s % 2 === 0 ? first.id : second.id;
      return app.call(conversations.assign_conversation, { id: ids[n] ?? "", team_id });
    },
    unassign: (n: number) => app.call(conversations.unassign_conversation, { id: ids[n] ?? "" }),
    away: (n: number, s: number) => {
      const [name] = Object.keys(first.members).slice(n % 2);
      const member_id = first.members[name ?? ""] ?? "";
      return app.call(teams.update_team_member, { id: first.id, member_id, is_available: s % 2 === 0 });
    },
    advance: () => app.advanceTime(130_000),
  };
  const step = fc.tuple(pick(Object.values(steps)), conversationIndex, fc.nat({ max: 9 }));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (run) => {
      for (const [act, n, s] of run) {
        // Some transitions are forbidden; only the resulting counts matter.
        await act(n, s).catch(() => undefined);
      }
      await app.runDueJobs();
      expect(await findWrongChatCounts(app)).toEqual([]);
    }),
    randomRuns(2, 6),
  );
}, 120_000);
