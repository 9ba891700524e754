/**
 * Crashes: at whichever transaction a process dies, each message of a flow is sent once, and the run ends.
 */

import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { useTestApp } from "./support/app.ts";
import { type CrashTime, crashTransactions } from "./support/crashes.ts";
import { chain, createFlowHelpers, say, textsOf } from "./support/flows.ts";
import { iterations } from "./support/iterations.ts";
import { modulesWithRareUpkeep } from "./support/rare-upkeep.ts";
import { openPhone } from "./support/simulator.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modulesWithRareUpkeep("flows"), probe } });
const { create, runsOf } = createFlowHelpers(app);

const minute = 60_000;

const twelveNodes = chain(
  say("One", "one"),
  { id: "tag", node_type: "add_tag", action_config: { tag: "begun", on: "conversation" } },
  {
    id: "attribute",
    node_type: "set_attribute",
    action_config: { name: "count", value: "{{message.text}}" },
  },
  { id: "wait", node_type: "wait", action_config: { duration: "1m" } },
  say("Two", "two"),
  { id: "ask", node_type: "ask", action_config: { text: "Three?", save_as: "answer" } },
  {
    id: "condition",
    node_type: "condition",
    action_config: { query: { attribute: "vars.answer", operator: "eq", value: "yes" } },
  },
  { ...say("Four {{vars.answer}}", "four"), connection_type: "default" },
  { id: "untag", node_type: "remove_tag", action_config: { tag: "begun", on: "conversation" } },
  { id: "done", node_type: "add_tag", action_config: { tag: "done" } },
  say("Five", "five"),
  { id: "end", node_type: "end" },
);

interface Crashes {
  /**
   * Decides which transactions of the modules fail: a third of them, in no period that one of
   * them could fall into.
   */
  readonly seed: number;
  readonly when: CrashTime;
}

/** Makes transactions fail, until the returned function is called, which returns how many did. */
async function crash({ seed, when }: Crashes) {
  const { random } = createRandom(seed);
  let crashes = 0;
  const isCrash = () => {
    const isChosen = random() < 1 / 3;
    crashes += Number(isChosen);
    return isChosen;
  };
  const restore = crashTransactions(await readWorld(app), { isCrash, when });
  return () => {
    restore();
    return crashes;
  };
}

/** The generator mulberry32. */
function createRandom(seed: number) {
  let state = seed;
  return {
    random() {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
  };
}

let numbers = 0;

/** Runs the flow while transactions crash; returns how many did until the question, and after its answer. */
async function runWithCrashes(plan: Crashes): Promise<readonly number[]> {
  numbers += 1;
  const number = `+1415558${String(numbers).padStart(4, "0")}`;
  const phone = openPhone(app, number);
  const { conversation_id } = await phone.write("start");
  const before = await crashUntil(
    plan,
    async () => (await runsOf(conversation_id))[0]?.waiting_for === "reply",
  );
  await phone.write("yes");
  const after = await crashUntil(plan, async () => (await runsOf(conversation_id))[0]?.ended_at !== null);
  // The pauses before the last attempts are long, and random.
  for (let hour = 0; hour < 3; hour += 1) {
    await app.advanceTime(60 * minute);
  }
  const place = JSON.stringify(plan);
  const texts = textsOf(await phone.listMessages());
  expect(texts, place).toEqual(["One", "Two", "Three?", "Four yes", "Five"]);
  const runs = await runsOf(conversation_id);
  expect(runs, place).toMatchObject([{ status: "completed", reason: null }]);
  expect(
    runs[0]?.path.map(({ node_id, outcome }) => `${node_id} ${outcome}`),
    place,
  ).toEqual(expectedPath);
  const { data: conversation } = await app.call(conversations.get_conversation, { id: conversation_id });
  const { data: contact } = await app.call(contacts.get_contact, { id: conversation.contact_id });
  expect([conversation.tags, contact.tags, contact.metadata], place).toEqual([
    [],
    ["done"],
    { count: "start" },
  ]);
  return [before, after];
}

/** Lets jobs crash and be repeated. The clock advances by more than the pause before most of the attempts. */
async function crashUntil(plan: Crashes, isDone: () => Promise<boolean>): Promise<number> {
  const restore = await crash(plan);
  for (let step = 0; step < 30 && !(await isDone()); step += 1) {
    await app.advanceTime(minute);
  }
  return restore();
}

const expectedPath = [
  "one next",
  "tag next",
  "attribute next",
  "wait wait",
  "wait next",
  "two next",
  "ask wait",
  "ask reply",
  "condition next",
  "four next",
  "untag next",
  "done next",
  "five next",
  "end end",
];

const seeds = [1, 2, 3].slice(0, iterations(1, 3));
const plans = seeds.flatMap((seed) => (["before", "after"] as const).map((when) => ({ seed, when })));

test("a flow of 12 nodes of whose transactions a third crash sends each message once, and ends", {
  timeout: 120_000,
}, async () => {
  await create(twelveNodes, { trigger_keyword: "start", trigger_match: "exact" });
  for (const plan of plans) {
    // With each of these seeds the second transaction crashes.
    expect(Math.min(...(await runWithCrashes(plan))), JSON.stringify(plan)).toBeGreaterThan(0);
  }
});
