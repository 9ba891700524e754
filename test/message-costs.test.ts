/**
 * What a message costs: the waits for the database until it is accepted, the statements
 * until it is delivered.
 */
import { beforeAll, expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import { rules } from "../tools/rules.ts";
import { startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { createBroadcastHelpers } from "./support/broadcasts.ts";
import { createTemplateHelpers } from "./support/templates.ts";
import { deliver, inboundText, messagesChange, startGraphApi, startWhatsAppApp } from "./support/whatsapp.ts";

// The jobs of an hour run between the tests, not while one counts.
const app = useTestApp({ startsAt: new Date("2026-06-01T10:00:00Z") });

let keys = 0;
const newKey = () => ({ "idempotency-key": `key ${keys++}` });

const text = { type: "text", text: { body: "hello" } };

async function send(to: string, headers: Record<string, string> = {}, content: object = text): Promise<void> {
  const json = { to, ...content };
  const answer = await app.fetch("/v1/messages", { method: "POST", json, headers });
  expect(answer.status).toBe(201);
}

const count = (work: () => Promise<unknown>) => countIn(app, work);

async function countIn({ server }: Pick<TestApp, "server">, work: () => Promise<unknown>) {
  const before = server.database.pool();
  await work();
  const { statements, waits } = server.database.pool();
  return { statements: statements - before.statements, waits: waits - before.waits };
}

const number = (n: number) => `+1415555${String(1000 + n)}`;

// The first use of a key in a minute is recorded.
beforeAll(() => send("+14155550199"));

test("a message to a known contact is accepted after four waits, five with an idempotency key", async () => {
  await send("+14155550200");
  expect((await count(() => send("+14155550200"))).waits).toBe(4);
  expect((await count(() => send("+14155550200", newKey()))).waits).toBe(5);
});

test("the record of acts costs a message one statement, and no wait", async () => {
  const { activity: _, ...others } = modules;
  await using plain = await startTestApp({ enabledModules: others });
  const costIn = async (one: TestApp, key: string) => {
    const post = async () => {
      const headers: Record<string, string> = key === "" ? {} : { "idempotency-key": key };
      await one.fetch("/v1/messages", { method: "POST", json: { to: "+14155550204", ...text }, headers });
    };
    return countIn(one, post);
  };
  for (const key of ["", "record"]) {
    // The first message creates the contact.
    await Promise.all([costIn(app, `${key} first`), costIn(plain, `${key} first`)]);
    const { statements, waits } = await costIn(plain, key);
    expect(await costIn(app, key)).toEqual({ statements: statements + 1, waits });
  }
});

test("a budget costs a message one statement and one wait, and none where no budget is set", async () => {
  const to = "+14155550205";
  await send(to);
  const plain = await count(() => send(to));
  expect(plain.waits).toBe(4);
  for (const [day, headers, keyed] of [
    [100, {}, plain],
    [200, newKey(), await count(() => send(to, newKey()))],
  ] as const) {
    await app.call(rules.set_rules, { budgets: { messages: { day } } });
    const { statements, waits } = await count(() => send(to, headers));
    expect({ statements, waits }).toEqual({ statements: keyed.statements + 1, waits: keyed.waits + 1 });
    await app.call(rules.set_rules, { budgets: null });
  }
  expect(await count(() => send(to))).toEqual(plain);
});

test("a message to a new contact is accepted after five waits, six with an idempotency key", async () => {
  expect((await count(() => send("+14155550201"))).waits).toBe(5);
  expect((await count(() => send("+14155550202", newKey()))).waits).toBe(6);
});

test("a template is accepted after as many waits as a text", async () => {
  await createTemplateHelpers(app).approve({ name: "greeting" });
  const content = { type: "template", template: { name: "greeting", language: "en" } };
  await send("+14155550203", {}, content);
  expect((await count(() => send("+14155550203", {}, content))).waits).toBe(4);
  expect((await count(() => send("+14155550203", newKey(), content))).waits).toBe(5);
});

test("a message of a backlog costs at most three statements from its acceptance to its delivery", async () => {
  await app.advanceTime(10_000);
  const before = await countDelivered();
  const messages = 100;
  for (let n = 0; n < messages; n += 1) {
    await send(number(n));
  }
  const { statements } = await count(() => app.advanceTime(10_000));
  expect((await countDelivered()) - before).toBe(messages);
  expect(statements / messages).toBeLessThanOrEqual(3);
});

test("a message of a broadcast costs at most three statements from the execution to its delivery", async () => {
  const { approve, create, execute, fillCohort, get } = createBroadcastHelpers(app);
  const recipients = 500;
  const { id: cohort_id } = await fillCohort(recipients);
  const { id: template_id } = await approve({ name: "sale", template_data: { body: "The sale begins." } });
  const { id } = await create({ name: "Sale", cohort_id, template_id });
  const { statements } = await count(async () => {
    await execute(id);
    await app.advanceTime(10_000);
  });
  expect((await get(id)).stats).toMatchObject({ total: recipients, delivered: recipients });
  expect(statements / recipients).toBeLessThanOrEqual(3);
});

/**
 * All messages wait before the first is stored. How many of them share a transaction, and how many ends a
 * poll, depends on how fast the machine is in each moment: so the least of up to three backlogs counts.
 */
test("a received message of a backlog costs at most one statement, also of a new person", async () => {
  await using graph = await startGraphApi();
  const started = await startWhatsAppApp(graph);
  await using whatsApp = started.app;
  const persons = 100;
  const receive = async (backlog: number) => {
    const messages = Array.from({ length: persons }, (_, n) =>
      inboundText("Hi", { from: number(backlog * persons + n).slice(1) }),
    );
    const work = () => deliver(whatsApp, started.inbox, messagesChange({ messages }));
    return (await countIn(whatsApp, work)).statements / persons;
  };
  const first: number[] = [];
  const second: number[] = [];
  const isDone = () => Math.max(Math.min(...first), Math.min(...second)) <= 1;
  for (let backlog = 0; backlog < 3 && !isDone(); backlog += 1) {
    first.push(await receive(backlog));
    second.push(await receive(backlog));
  }
  expect(Math.min(...first)).toBeLessThanOrEqual(1);
  expect(Math.min(...second)).toBeLessThanOrEqual(1);
});

async function countDelivered(): Promise<number> {
  const { total } = await app.server.database.queries
    .selectFrom("messages")
    .select(({ fn }) => fn.countAll<number>().as("total"))
    .where("status", "=", "delivered")
    .executeTakeFirstOrThrow();
  return total;
}
