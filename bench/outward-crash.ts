/**
 * kill -9 of the service between the intent and the answer of calls to third parties: is a call made twice?
 *
 * Each call is a `test_webhook` or an `upload_file` with a url, with its own idempotency key, to a receiver
 * that counts the calls of each key. Five keys are in progress at each kill, which happens before the
 * receiver answers, as it answers, up to 20 ms later, or when the service has answered the first call. A key
 * is cut if the receiver got its call and the client got no response. The kills continue until `--kills` keys
 * are cut (50, or 15 with `--embedded`; at most 100). Four in five keys are repeated every 500 ms until they
 * are answered; the remaining keys are left to the job. At the end every key is repeated once more.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { CallFailure, createClient, NoResponseError } from "../src/client/index.ts";
import { openDatabase } from "../src/database/connect.ts";
import { meanwhile } from "../test/support/meanwhile.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { uploads } from "../tools/uploads.ts";
import { webhooks } from "../tools/webhooks.ts";
import { startHoldingReceiver } from "./support/holding-receiver.ts";
import { pollUntil, startService } from "./support/service.ts";

const { values: options } = parseArgs({
  options: { embedded: { type: "boolean", default: false }, kills: { type: "string" } },
});
const wanted = Number(options.kills ?? (options.embedded ? 15 : 50));
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const name = "tidings_outward_crash";
const url = options.embedded ? undefined : withDatabase(server, name);
const port = 39_461;
const key = `sk_live_${"o".repeat(43)}`;
const inFlight = 5;
const maxJitterMs = 20;
const repeatEveryMs = 500;
/** The job runs each minute, and a call counts as running for 10 s after a crash. */
const maxJobMs = 75_000;
const log = { debug() {}, info() {}, warn() {}, error: console.error };

interface Call {
  readonly number: number;
  readonly isRepeated: boolean;
  readonly send: () => Promise<object>;
  hasEnded: boolean;
  isCut: boolean;
  /** The body of the first response, or its error code. Every later response must be the same. */
  answer: string | undefined;
}

const calls: Call[] = [];
const repeating: Promise<void>[] = [];
const findings = { kills: 0, answeredBeforeKill: 0, changedAnswers: 0 };

await using receiver = await startHoldingReceiver();
/** The moments at which the service is killed, after calls have been sent. */
const moments: readonly ((
  sent: readonly Call[],
  requests: readonly Promise<unknown>[],
) => Promise<unknown>)[] = [
  // Before the answer: the first call has arrived, and the other calls are at any step before that.
  async (sent) => {
    await pollUntil(() => sent.some(({ number }) => receiver.countOf(number) > 0));
    await sleep(Math.random() * maxJitterMs);
  },
  async (sent) => {
    await untilArrived(sent);
    receiver.release();
  },
  async (sent) => {
    await untilArrived(sent);
    receiver.release();
    await sleep(Math.random() * maxJitterMs);
  },
  // The service records the answers of the other calls, or has recorded them.
  async (sent, requests) => {
    await untilArrived(sent);
    receiver.release();
    await Promise.race(requests);
  },
];

const dataDir = await mkdtemp(join(tmpdir(), "tidings-outward-crash-"));
if (url !== undefined) {
  await runOnServer(server, `drop database if exists ${name} with (force)`);
  await runOnServer(server, `create database ${name}`);
}
let { child, baseUrl } = await start();
process.once("exit", () => child.kill("SIGKILL"));
const client = createClient({ baseUrl, key, retries: 0 });
while (countCut() < wanted) {
  await cut();
}
await Promise.all(repeating);
const left = await untilResolved();
await Promise.all(calls.map(repeat));
report(left);
await client.close();
await stop("SIGTERM");
await rm(dataDir, { recursive: true });
if (url !== undefined) {
  await runOnServer(server, `drop database ${name} with (force)`);
}

function start() {
  return startService(port, key, {
    TIDINGS_DATA_DIR: dataDir,
    TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true",
    TIDINGS_ALLOW_LOCAL_SOURCES: "true",
    ...(url === undefined ? {} : { DATABASE_URL: url }),
  });
}

async function stop(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  child.kill(signal);
  await once(child, "exit");
}

/** Sends calls, kills the service during them and starts it again. */
async function cut(): Promise<void> {
  const sent: Call[] = [];
  while (sent.length < inFlight) {
    sent.push(await createCall(calls.length + sent.length));
  }
  calls.push(...sent);
  receiver.hold();
  const requests = sent.map(request);
  await meanwhile(Promise.all(requests), async () => {
    await moments[findings.kills % moments.length]?.(sent, requests);
    await stop("SIGKILL");
    findings.kills += 1;
  });
  receiver.release();
  for (const call of sent) {
    call.isCut = call.answer === undefined && receiver.countOf(call.number) > 0;
    findings.answeredBeforeKill += Number(call.answer !== undefined);
  }
  ({ child } = await start());
  repeating.push(...sent.filter(({ isRepeated }) => isRepeated).map(repeat));
}

/** Webhooks and uploads in turn. The receiver knows a call by the number in its path. */
async function createCall(number: number): Promise<Call> {
  const address = `${receiver.baseUrl}/${number}/note.txt`;
  const state = { isRepeated: number % 5 !== 4, hasEnded: false, isCut: false, answer: undefined };
  const call = { idempotencyKey: `outward-${number}`, maxRetryWaitMs: 0 };
  if (number % 2 === 1) {
    return { number, ...state, send: () => client.call(uploads.upload_file, { url: address }, call) };
  }
  const { data } = await client.call(webhooks.create_webhook, { url: address, events: ["message.failed"] });
  return { number, ...state, send: () => client.call(webhooks.test_webhook, { id: data.id }, call) };
}

/** Sends the request once. @returns whether the call got its answer. */
async function request(call: Call): Promise<boolean> {
  const answer = await readAnswer(call);
  call.hasEnded = true;
  if (answer !== undefined) {
    findings.changedAnswers += Number(answer !== (call.answer ?? answer));
    call.answer = answer;
  }
  return answer !== undefined;
}

/** Returns undefined without a response, and for `request_in_progress`. */
async function readAnswer({ send }: Call): Promise<string | undefined> {
  try {
    return JSON.stringify(await send());
  } catch (error) {
    if (error instanceof NoResponseError || (error instanceof CallFailure && error.isRetryable)) {
      return undefined;
    }
    return error instanceof CallFailure ? error.code : String(error);
  }
}

async function repeat(call: Call): Promise<void> {
  while (!(await request(call))) {
    await sleep(repeatEveryMs);
  }
}

/** Waits until the receiver has got each call, or the service has answered it. */
async function untilArrived(sent: readonly Call[]): Promise<void> {
  await pollUntil(() => sent.every(({ number, hasEnded }) => hasEnded || receiver.countOf(number) > 0));
}

function countCut(): number {
  return calls.filter(({ isCut }) => isCut).length;
}

interface LeftRows {
  /** Rows of calls without a response. */
  readonly rows: number;
  /** Cut keys that were not repeated and that have no stored response. */
  readonly unanswered: number;
}

/** Waits for the job. The embedded database can be read only while the service is stopped. */
async function untilResolved(): Promise<LeftRows> {
  if (url === undefined) {
    await sleep(maxJobMs);
    await stop("SIGTERM");
    const counted = await countLeft();
    ({ child } = await start());
    return counted;
  }
  const end = Date.now() + maxJobMs;
  let counted = await countLeft();
  while (counted.rows > 0 && Date.now() < end) {
    await sleep(repeatEveryMs);
    counted = await countLeft();
  }
  return counted;
}

async function countLeft(): Promise<LeftRows> {
  await using database = await openDatabase({ url, dataDir, poolSize: 1, log });
  const rows = await database.queries.selectFrom("outward_calls").select("key").execute();
  const stored = await database.queries.selectFrom("idempotency").select("key").execute();
  const keys = new Set(stored.map((row) => row.key));
  const unanswered = calls.filter(
    ({ isCut, isRepeated, number }) => isCut && !isRepeated && !keys.has(`outward-${number}`),
  );
  return { rows: rows.length, unanswered: unanswered.length };
}

function report({ rows, unanswered }: LeftRows): void {
  const isUnknown = ({ answer }: Call) => answer === "outcome_unknown";
  const isAnswered = ({ answer }: Call) => answer?.startsWith("{") ?? false;
  const cutCalls = calls.filter(({ isCut }) => isCut);
  const alone = cutCalls.filter(({ isRepeated }) => !isRepeated);
  const describe = (group: readonly Call[]) =>
    `${group.length} keys, ${group.filter(isAnswered).length} answered, ${group.filter(isUnknown).length} unknown`;
  const neverCalled = calls.filter((call) => isUnknown(call) && receiver.countOf(call.number) === 0);
  const figures = {
    "called twice": calls.filter(({ number }) => receiver.countOf(number) > 1).length,
    "rows left": rows,
    "keys that neither a request nor the job answered": unanswered,
    "other errors": calls.filter((call) => !isAnswered(call) && !isUnknown(call)).length,
    "answers that changed": findings.changedAnswers,
  };
  console.log(
    `${url === undefined ? "embedded" : "PostgreSQL"}: ${findings.kills} kills, ${calls.length} keys, ${calls.filter(({ number }) => receiver.countOf(number) > 0).length} calls made`,
  );
  console.log(`cut between the call and the response: ${describe(cutCalls)}`);
  console.log(`  of them test_webhook: ${describe(cutCalls.filter(({ number }) => number % 2 === 0))}`);
  console.log(`  of them upload_file: ${describe(cutCalls.filter(({ number }) => number % 2 === 1))}`);
  console.log(`  of them left to the job: ${describe(alone)}`);
  const later = calls.length - cutCalls.length - neverCalled.length - findings.answeredBeforeKill;
  console.log(
    `others: ${neverCalled.length} cut between the intent and the call, ${findings.answeredBeforeKill} answered before the kill, ${later} called after the restart`,
  );
  console.log(`must be 0: ${JSON.stringify(figures)}`);
  process.exitCode = Object.values(figures).some((count) => count > 0) ? 1 : 0;
}
