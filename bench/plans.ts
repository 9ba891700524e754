/**
 * How long another organization's requests wait while a plan of 100,000 targets is prepared on PostgreSQL.
 *
 * The other organization sends messages and reads lists, 20 requests a second together, at an even rate.
 * First the service does nothing else, for as long as `--seconds`; then the plan of a broadcast is prepared.
 * Then the plan runs, which is measured too. `--targets 100000`. Target: the longest wait while the plan is
 * prepared is at most 250 ms longer than the longest wait before. About 3 minutes.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Client } from "../src/client/index.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { operator } from "../tools/operator.ts";
import { plans } from "../tools/plans.ts";
import { prepareBroadcast } from "./support/broadcasts/campaign.ts";
import { combine, type LoadResult, quantile, runOpenLoop } from "./support/load.ts";
import { createPersistentClient } from "./support/persistent.ts";
import { residentMb, startService } from "./support/service.ts";

const { values: options } = parseArgs({
  options: {
    targets: { type: "string", default: "100000" },
    seconds: { type: "string", default: "30" },
    port: { type: "string", default: "39485" },
  },
});
const allowedMs = 250;
const perSecond = 20;
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const name = `tidings_plans_${process.pid}`;
const url = withDatabase(server, name);
const key = `sk_live_${"b".repeat(43)}`;
const operatorKey = "b".repeat(32);
const dataDir = await mkdtemp(join(tmpdir(), "tidings-plans-"));

await runOnServer(server, `create database ${name}`);
const { child, baseUrl } = await startService(Number(options.port), key, {
  DATABASE_URL: url,
  TIDINGS_DATA_DIR: dataDir,
  TIDINGS_OPERATOR_KEY: operatorKey,
});
const client = createPersistentClient(baseUrl, key);
try {
  await measure();
} finally {
  await client.close();
  child.kill("SIGKILL");
  await once(child, "exit");
  await runOnServer(server, `drop database ${name} with (force)`);
  await rm(dataDir, { recursive: true });
}

async function measure(): Promise<void> {
  const organization = (await client.call(auth.whoami, {})).data.organization.id;
  const id = await prepareBroadcast(client, { url, organization, contacts: Number(options.targets) });
  const other = await createTenant();
  // Creates the contacts and the conversations of the other organization, and loads the service's code.
  await runOpenLoop({ perSecond, ms: 5_000 }, (number) => request(other, number));
  const idle = await runOpenLoop({ perSecond, ms: Number(options.seconds) * 1_000 }, (number) =>
    request(other, number),
  );
  const memoryBefore = await residentMb(child.pid);
  const startedAt = performance.now();
  const planning = client.call(plans.plan_call, { operation: "execute_broadcast", input: { id } });
  const [loaded, { data: plan, plannedAt }] = await Promise.all([
    loadWhile(other, async () => {
      const { data } = await planning;
      return (await client.call(plans.get_plan, { id: data.id })).data.status === "preparing";
    }),
    planning.then((answer) => ({ ...answer, plannedAt: performance.now() })),
  ]);
  const preparedAt = performance.now();
  const { data: ready } = await client.call(plans.get_plan, { id: plan.id, per_page: 25 });
  const shownAt = performance.now();
  await client.call(plans.get_plan, { id: plan.id, search: "zzz" });
  const searchedAt = performance.now();
  const running = client.call(plans.run_plan, { id: plan.id }).then(() => performance.now());
  let hasRun = false;
  const [runLoad, ranAt] = await Promise.all([
    loadWhile(other, async () => !hasRun),
    running.finally(() => {
      hasRun = true;
    }),
  ]);
  await other.close();
  const limit = (idle.times.at(-1) ?? 0) + allowedMs;
  const worst = loaded.result.times.at(-1) ?? 0;
  const seconds = (from: number, to: number) => `${((to - from) / 1_000).toFixed(1)} s`;
  console.log(
    `${ready.recipient_count} targets: plan_call ${seconds(startedAt, plannedAt)}, prepared in ${seconds(plannedAt, preparedAt)}, first page ${(shownAt - preparedAt).toFixed(0)} ms, search ${(searchedAt - shownAt).toFixed(0)} ms, run ${seconds(searchedAt, ranAt)}`,
  );
  console.log(
    `memory before ${memoryBefore.toFixed(0)} MB, at most ${Math.max(loaded.memoryMb, runLoad.memoryMb).toFixed(0)} MB`,
  );
  console.log(`the other organization idle       ${describe(idle)}`);
  console.log(`the other organization preparing  ${describe(loaded.result)}`);
  console.log(`the other organization running    ${describe(runLoad.result)}`);
  console.log(
    `worst wait ${worst.toFixed(0)} ms, allowed ${limit.toFixed(0)} ms: ${worst <= limit ? "met" : "missed"}`,
  );
}

/** Sends a message, or reads a list. */
async function request(other: Client, number: number): Promise<boolean> {
  const phone = `+1415555${String(1_000 + (number % 50))}`;
  const kinds = [
    () => other.call(messages.send_message, { to: phone, type: "text", text: { body: "hello" } }),
    () => other.call(contacts.list_contacts, {}),
    () => other.call(messages.send_message, { to: phone, type: "text", text: { body: "hello" } }),
    () => other.call(conversations.list_conversations, {}),
  ];
  await kinds[number % kinds.length]?.();
  return true;
}

/** Loads the service in slices while the condition is true. */
async function loadWhile(other: Client, isTrue: () => Promise<boolean>) {
  const slices: LoadResult[] = [];
  let memoryMb = 0;
  do {
    const slice = runOpenLoop({ perSecond, ms: 1_000 }, (number) => request(other, number));
    const [result] = await Promise.all([slice, sleep(1_000)]);
    slices.push(result);
    memoryMb = Math.max(memoryMb, await residentMb(child.pid));
  } while (await isTrue());
  return { result: combine(slices), memoryMb };
}

async function createTenant(): Promise<Client> {
  const owner = { email: "other@example.org", name: "Other" };
  const { data } = await client.call(
    operator.create_organization,
    { name: "Other", owner },
    { key: operatorKey },
  );
  return createPersistentClient(baseUrl, data.api_key.secret_key);
}

function describe(load: LoadResult): string {
  const { count, errors, times } = load;
  const worst = times.at(-1) ?? 0;
  return `${count} requests, ${errors} failed, p50 ${quantile(load, 0.5).toFixed(0)} ms, p99 ${quantile(load, 0.99).toFixed(0)} ms, worst ${worst.toFixed(0)} ms`;
}
