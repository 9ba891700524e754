/** 2,000 sends while the emulator loses 5 % of its answers and the processes are killed in turn. */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Client } from "../../../src/client/index.ts";
import { meanwhile } from "../../../test/support/meanwhile.ts";
import { messages } from "../../../tools/messages/index.ts";
import { templates } from "../../../tools/templates/index.ts";
import { pollUntil } from "../service.ts";
import { type Deployment, numberOf, openWindows, startDeployment } from "./deployment.ts";
import { type Arrival, maxWithin } from "./emulator.ts";

const sends = 2_000;
const atOnce = 16;
const lostShare = 0.05;
/**
 * A job whose process died is taken over when its lease of 30 s ends. Receipts for a killed process are sent
 * again.
 */
const maxSettleMs = 120_000;
const templateName = "order_update";

export async function measureKills(kills: number): Promise<void> {
  await using deployment = await startDeployment();
  const { emulator, clients } = deployment;
  await emulator.control("PUT", "/faults", { lost_answers: lostShare, pair_limit: false });
  await approveTemplate(clients[0], deployment.inboxId);
  const persons = Array.from({ length: sends }, (_, index) => index);
  await openWindows(
    deployment,
    persons.filter((index) => !isTemplate(index)),
  );
  const startedAt = performance.now();
  const accepted = await meanwhile(sendAll(deployment), async () => {
    for (let kill = 1; kill <= kills; kill += 1) {
      await pollUntil(async () => (await countBegun(deployment)) > (sends / (kills + 1)) * kill);
      // A random delay, so that the kill does not always follow a claim.
      await sleep(Math.random() * 100);
      await deployment.restart(kill % clients.length);
    }
  });
  await untilSettled(deployment, accepted);
  await passDay(deployment);
  const seconds = (performance.now() - startedAt) / 1_000;
  report(await read(deployment, accepted), { kills, seconds });
}

/** The messages that a process has begun to send. */
async function countBegun({ queries }: Deployment): Promise<number> {
  const { count } = await queries
    .selectFrom("messages")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("direction", "=", "outbound")
    .where("status", "<>", "queued")
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Every second message is a template to a person who has not written. */
const isTemplate = (index: number) => index % 2 === 1;

async function approveTemplate(client: Client, inbox_id: string): Promise<void> {
  const template_data = { body: "Your order has been shipped and arrives soon." };
  const input = { name: templateName, category: "utility", language: "en_US", inbox_id } as const;
  const { id } = (await client.call(templates.create_template, { ...input, template_data })).data;
  await client.call(templates.submit_template, { id });
  await pollUntil(async () => (await client.call(templates.get_template, { id })).data.status === "approved");
}

/** Sends through both processes. @returns the ids of the accepted messages */
async function sendAll({ clients, inboxId: inbox_id }: Deployment): Promise<readonly string[]> {
  const ids: string[] = [];
  let next = 0;
  const send = async (client: Client) => {
    while (next < sends) {
      const index = next++;
      const target = { to: numberOf(index), inbox_id };
      const input = isTemplate(index)
        ? ({ ...target, type: "template", template: { name: templateName, language: "en_US" } } as const)
        : ({ ...target, type: "text", text: { body: `number ${index}` } } as const);
      const options = { idempotencyKey: `send ${index}` };
      ids.push((await client.call(messages.send_message, input, options)).data.id);
    }
  };
  const [first, second] = clients;
  await Promise.all(Array.from({ length: atOnce }, (_, index) => send(index % 2 === 0 ? first : second)));
  return ids;
}

/** Lets a day pass: messages that still wait for a receipt fail as unconfirmed. */
async function passDay({ queries }: Deployment): Promise<void> {
  const since = new Date(Date.now() - 25 * 3_600_000).toISOString();
  await sql`
    update jobs set run_at = now(), payload = payload || jsonb_build_object('since', ${since}::text)
    where name = 'message.confirm'
  `.execute(queries);
  const isWaiting = async () =>
    (await queries.selectFrom("jobs").select("id").where("name", "=", "message.confirm").execute()).length >
    0;
  await pollUntil(async () => !(await isWaiting()));
}

interface Outcome {
  readonly accepted: readonly string[];
  readonly arrivals: readonly Arrival[];
  readonly statuses: ReadonlyMap<string, string>;
  /** Jobs of messages that are still to be sent. */
  readonly jobs: number;
}

async function read({ emulator, queries }: Deployment, accepted: readonly string[]): Promise<Outcome> {
  const arrivals = await emulator.arrivals();
  const rows = await queries
    .selectFrom("messages")
    .select(["id", "status", "error"])
    .where("direction", "=", "outbound")
    .execute();
  const jobs = await queries.selectFrom("jobs").select("id").where("name", "=", "message.deliver").execute();
  const statuses = new Map(rows.map(({ id, status, error }) => [id, error?.code ?? status ?? "none"]));
  return { accepted, arrivals, statuses, jobs: jobs.length };
}

/** Waits until nothing is left to send, and each message that arrived has its receipts. */
async function untilSettled(deployment: Deployment, accepted: readonly string[]): Promise<void> {
  const end = performance.now() + maxSettleMs;
  const isSettled = async () => {
    const { jobs, arrivals, statuses } = await read(deployment, accepted);
    return jobs === 0 && arrivals.every(({ token }) => statuses.get(token) === "delivered");
  };
  while (performance.now() < end && !(await isSettled())) {
    await sleep(1_000);
  }
}

function report(
  { accepted, arrivals, statuses, jobs }: Outcome,
  { kills, seconds }: { readonly kills: number; readonly seconds: number },
): void {
  const arrived = new Set(arrivals.map(({ token }) => token));
  const counts: Record<string, number> = {};
  for (const id of accepted) {
    const status = statuses.get(id) ?? "missing";
    counts[status] = (counts[status] ?? 0) + 1;
  }
  const times = arrivals.map(({ receivedAt }) => receivedAt).sort((one, other) => one - other);
  const count = (isCounted: (id: string) => boolean) => accepted.filter(isCounted).length;
  const isUnconfirmed = (id: string) => statuses.get(id) === "unconfirmed";
  const figures = {
    "doubled at the emulator": arrivals.length - arrived.size,
    missing: count((id) => !statuses.has(id)),
    "neither arrived nor unconfirmed": count((id) => !arrived.has(id) && !isUnconfirmed(id)),
    "arrived and not delivered": count((id) => arrived.has(id) && statuses.get(id) !== "delivered"),
    "jobs left": jobs,
    "sends without an answer": sends - accepted.length,
  };
  console.log(
    `kills: ${sends} sends over ${kills} kills in ${seconds.toFixed(0)} s, ${lostShare * 100} % of the answers lost: ${arrivals.length} arrived, at most ${maxWithin(times, 1_000)} in a second`,
  );
  console.log(`  statuses: ${JSON.stringify(counts)}`);
  console.log(
    `  ${count(isUnconfirmed)} killed between the claim and the request: unconfirmed after a day, by moved times`,
  );
  console.log(`  must be 0: ${JSON.stringify(figures)}`);
  process.exitCode = Object.values(figures).some((value) => value > 0) ? 1 : process.exitCode;
}
