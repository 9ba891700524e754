/** Runs of flows that advance together: what each of them does, and what they cost. */
import { describe, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { useTestApp } from "./support/app.ts";
import { chain, createFlowHelpers, say, textsOf } from "./support/flows.ts";
import { openPhone } from "./support/simulator.ts";

// The jobs of an hour run between the tests, not while one counts.
const app = useTestApp({ startsAt: new Date("2026-06-01T10:00:00Z") });
const { create, runsOf } = createFlowHelpers(app);

let numbers = 0;
const openPhones = (count: number) =>
  Array.from({ length: count }, () => openPhone(app, `+1415553${String(++numbers).padStart(4, "0")}`));

/** All contacts write before a job runs, so that their events wait at the same time. */
async function writeAtOnce(phones: ReturnType<typeof openPhones>, text: string) {
  const written = await Promise.all(phones.map((phone) => phone.write(text)));
  return phones.map((phone, index) => ({
    phone,
    conversation_id: written[index]?.conversation_id ?? "",
  }));
}

/**
 * How many events share a transaction depends on how fast the machine is in each moment: so the least of up
 * to three backlogs counts.
 */
test("a step of a backlog costs at most eight statements, from the message received to the delivery", {
  tags: "both",
}, async () => {
  await create(
    chain(
      say("Hello {{contact.name}}!", "hello"),
      { id: "tag", node_type: "add_tag", action_config: { tag: "offer" } },
      { id: "mail", node_type: "ask", action_config: { text: "Where to?", save_as: "mail" } },
    ),
    { trigger_keyword: "offer" },
  );
  const people = 100;
  const cost = async () => {
    const phones = openPhones(people);
    await writeAtOnce(phones, "Hello");
    await app.advanceTime(10_000);
    const before = app.server.database.pool().statements;
    const stepsBefore = await countSteps();
    const written = await writeAtOnce(phones, "An offer");
    await app.advanceTime(10_000);
    const { statements } = app.server.database.pool();
    expect((await countSteps()) - stepsBefore).toBe(3 * people);
    expect(textsOf((await written[0]?.phone.listMessages()) ?? [])).toHaveLength(2);
    return (statements - before) / (3 * people);
  };
  let least = await cost();
  for (let backlog = 1; backlog < 3 && least > 8; backlog += 1) {
    least = Math.min(least, await cost());
  }
  expect(least).toBeLessThanOrEqual(8);
});

describe("of runs at once", { tags: "both" }, () => {
  test("one whose step fails leaves the others as they are", async () => {
    await create(
      chain(
        say("one"),
        { id: "tag", node_type: "add_tag", action_config: { tag: "begun" } },
        say("{{contact.metadata.long}}".repeat(5), "long"),
        say("two"),
      ),
      { trigger_keyword: "fails" },
    );
    const phones = openPhones(6);
    const known = await writeAtOnce(phones, "Hello");
    await app.advanceTime(1_000);
    for (const [index, { conversation_id }] of known.entries()) {
      const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
      const long = index === 2 ? "x".repeat(1_000) : "a";
      await app.call(contacts.update_contact, { id: data.contact_id, metadata: { long } });
    }
    const written = await writeAtOnce(phones, "fails");
    await app.advanceTime(1_000);
    for (const [index, { phone, conversation_id }] of written.entries()) {
      const [run, ...others] = await runsOf(conversation_id);
      const isFailed = index === 2;
      expect([run?.status, run?.reason, others]).toEqual(
        isFailed ? ["failed", "flow_message_invalid", []] : ["completed", null, []],
      );
      expect(textsOf(await phone.listMessages())).toEqual(isFailed ? ["one"] : ["one", "aaaaa", "two"]);
    }
  });

  test("nodes that change more than the contact run one after the other", async () => {
    const end = await create(
      chain(
        say("before"),
        { id: "tag", node_type: "add_tag", action_config: { tag: "urgent", on: "conversation" } },
        { id: "close", node_type: "set_status", action_config: { status: "closed" } },
        say("after"),
      ),
      { trigger_keyword: "mixed", end_action_type: "unassign" },
    );
    const written = await writeAtOnce(openPhones(6), "mixed");
    await app.advanceTime(1_000);
    for (const { phone, conversation_id } of written) {
      expect(textsOf(await phone.listMessages())).toEqual(["before", "after"]);
      const [run, ...others] = await runsOf(conversation_id);
      expect(run).toMatchObject({ flow_id: end.id, status: "completed" });
      expect(run?.path.map(({ node_id }) => node_id)).toEqual([
        "before",
        "tag",
        "close",
        "after",
        "end_action",
      ]);
      expect(others).toEqual([]);
      const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
      expect(data).toMatchObject({ tags: ["urgent"], status: "closed" });
    }
  });

  test("each gets its own reply, and one with an expression its own verdict", async () => {
    await create(
      [
        {
          id: "ask",
          node_type: "ask",
          action_config: {
            text: "Code?",
            save_as: "code",
            validate: { type: "regex", pattern: "^[0-9]{4}$" },
            retries: 0,
          },
        },
        { ...say("Code {{vars.code}}", "ok"), parent_node_id: "ask" },
        { ...say("No code", "no"), parent_node_id: "ask", connection_type: "error" },
      ],
      { trigger_keyword: "code" },
    );
    const phones = openPhones(6);
    await writeAtOnce(phones, "code");
    await app.advanceTime(1_000);
    const answers = phones.map((_, index) => (index % 2 === 0 ? `123${index}` : "none"));
    await Promise.all(phones.map((phone, index) => phone.write(answers[index] ?? "")));
    await app.advanceTime(1_000);
    for (const [index, phone] of phones.entries()) {
      const expected = index % 2 === 0 ? `Code 123${index}` : "No code";
      expect(textsOf(await phone.listMessages())).toEqual(["Code?", expected]);
    }
  });
});

test("a run whose conversation is locked delays no other run", { tags: "postgres" }, async () => {
  await create([say("through")], { trigger_keyword: "locked" });
  const phones = openPhones(6);
  const [first, ...others] = await writeAtOnce(phones, "locked");
  const { database } = app.server;
  let jobs: Promise<void> = Promise.resolve();
  await database.transaction(async (tx) => {
    await tx
      .selectFrom("conversations")
      .select("id")
      .where("id", "=", first?.conversation_id ?? "")
      .forUpdate()
      .execute();
    jobs = app.runDueJobs();
    // It is awaited after the commit.
    jobs.catch(() => undefined);
    const completed = async () =>
      (await Promise.all(others.map(({ conversation_id }) => runsOf(conversation_id)))).flatMap((runs) =>
        runs.map(({ status }) => status),
      );
    await expect.poll(completed, { timeout: 10_000 }).toEqual(others.map(() => "completed"));
    expect(await runsOf(first?.conversation_id ?? "")).toEqual([]);
  });
  await jobs;
  await app.advanceTime(1_000);
  for (const phone of phones) {
    expect(textsOf(await phone.listMessages())).toEqual(["through"]);
  }
});

async function countSteps(): Promise<number> {
  const { total } = await app.server.database.queries
    .selectFrom("flow_run_steps")
    .select(({ fn }) => fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return total;
}
