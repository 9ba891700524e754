/** Two processes on one database: they share the runs of flows, and each message is sent once. */
import { expect, test } from "vitest";
import { startTestApp } from "./support/app.ts";
import { lendTestDatabase } from "./support/database.ts";
import { createFlowHelpers, say, textsOf } from "./support/flows.ts";
import { iterations } from "./support/iterations.ts";
import { openPhone } from "./support/simulator.ts";

// The embedded database has one process.

test("replies to and time-outs of 20 runs at once, in two processes: one of them wins", {
  tags: "postgres",
  timeout: 60_000,
}, async () => {
  await using database = await lendTestDatabase();
  await using one = await startTestApp({ database });
  await using two = await startTestApp({ database, startsAt: one.now() });
  const { create, runsOf } = createFlowHelpers(one);
  await create([
    { id: "ask", node_type: "ask", action_config: { text: "Well?", timeout: "1m" } },
    { ...say("Thanks", "thanks"), parent_node_id: "ask" },
    { ...say("Too late", "late"), parent_node_id: "ask", connection_type: "timeout" },
  ]);
  const numbers = Array.from(
    { length: iterations(8, 20) },
    (_, index) => `+141555602${String(index).padStart(2, "0")}`,
  );
  const phones = numbers.map((number, index) => openPhone(index % 2 === 0 ? one : two, number));
  const written = await Promise.all(phones.map((phone) => phone.write("hi")));
  const advance = (ms: number) => Promise.all([one.advanceTime(ms), two.advanceTime(ms)]);
  const statuses = async () => {
    const runs = await Promise.all(written.map(({ conversation_id }) => runsOf(conversation_id)));
    return runs.flat().map(({ status }) => status);
  };
  await advance(1_000);
  await advance(1_000);
  expect(await statuses()).toEqual(numbers.map(() => "waiting"));

  const replies = numbers.map((number, index) =>
    openPhone(index % 2 === 0 ? two : one, number).write("here"),
  );
  await Promise.all([...replies, advance(60_000)]);
  await advance(1_000);
  await advance(1_000);
  expect(await statuses()).toEqual(numbers.map(() => "completed"));
  for (const [index, phone] of phones.entries()) {
    const [run, ...others] = await runsOf(written[index]?.conversation_id ?? "");
    const isAnswered = run?.path.some(({ outcome }) => outcome === "reply") ?? false;
    const texts = textsOf(await phone.listMessages());
    expect([texts, others]).toEqual([["Well?", isAnswered ? "Thanks" : "Too late"], []]);
  }
});
