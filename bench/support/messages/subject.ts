/**
 * A version of the service that is measured: its program, its database, and the messages that are sent to it.
 */
import { once } from "node:events";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { throughPgBouncer } from "../../../test/support/pgbouncer.ts";
import { runOnServer, withDatabase } from "../../../test/support/postgres.ts";
import { runClosedLoop } from "../load.ts";
import { type Counters, metricsToken, readCounters } from "../pool-counters.ts";
import { type BenchService, startProgram } from "../service.ts";
import { postgresMs } from "./processor-time.ts";

export type Engine = "postgres" | "embedded";

/** The location of a database: a URL, or the data folder of the embedded engine. */
export interface Place {
  readonly url: string | undefined;
  readonly dataDir: string;
}

export interface SubjectOptions {
  readonly name: string;
  /** The `dist/tidings.js` of the version. The folder above has the sources of the same version. */
  readonly program: string;
  readonly engine: Engine;
  readonly port: number;
  /** The local port of a pooler in front of the server, through which the service uses its database. */
  readonly poolerPort?: number;
}

export const serverUrl = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const operatorKey = "o".repeat(32);
const key = `sk_live_${"m".repeat(43)}`;
/** Known contacts; enough that messages of one conversation rarely wait for each other. */
export const knownRecipients = 2_000;
/** A backlog that does not shrink for this long is an error. */
const stalledMs = 30_000;
const acceptingProcess = fileURLToPath(new URL("./accepting-process.ts", import.meta.url));

export class Subject implements AsyncDisposable {
  readonly name: string;
  readonly place: Place;
  readonly #options: SubjectOptions;
  #service: BenchService | undefined;
  /** The keys of the organizations. */
  readonly #keys = [key];
  #sent = 0;
  #strangers = 0;

  private constructor(options: SubjectOptions, place: Place) {
    this.name = options.name;
    this.#options = options;
    this.place = place;
    // If the benchmark fails, no service may keep running.
    process.on("exit", () => this.#service?.child.kill("SIGKILL"));
  }

  static async create(options: SubjectOptions): Promise<Subject> {
    return new Subject(options, await createPlace(options.engine));
  }

  get baseUrl(): string {
    return this.#running().baseUrl;
  }

  start(): Promise<void> {
    return this.#start(resolve(this.#options.program), {});
  }

  /** Starts the same version without workers: it accepts messages and does not deliver them. */
  startAccepting(): Promise<void> {
    const BENCH_CHECKOUT = dirname(dirname(resolve(this.#options.program)));
    return this.#start(acceptingProcess, { BENCH_CHECKOUT, NODE_OPTIONS: "--import tsx" });
  }

  async stop(): Promise<void> {
    const { child } = this.#running();
    this.#service = undefined;
    child.kill("SIGTERM");
    await once(child, "exit");
  }

  /** Creates the known contacts. Their messages also warm up the service. */
  async fill(): Promise<void> {
    const { errors } = await this.send(16, (call) =>
      runClosedLoop({ connections: 16, count: knownRecipients }, call),
    );
    if (errors > 0) {
      throw new Error(`${this.name} rejected ${errors} of the first ${knownRecipients} messages.`);
    }
    await this.drain();
  }

  /**
   * Runs a load of messages over this many connections. `keyed` sends each message with an idempotency key;
   * `unknown` sends to a number that is no contact yet.
   */
  async send<Result>(
    connections: number,
    load: (call: () => Promise<boolean>) => Promise<Result>,
    { keyed = false, unknown = false, organizations = 1 } = {},
  ): Promise<Result> {
    const pool = new Pool(this.baseUrl, { connections });
    try {
      return await load(() => this.#sendOne(pool, { keyed, unknown, organizations }));
    } finally {
      await pool.close();
    }
  }

  /** Creates further organizations until there are `count`. */
  async addOrganizations(count: number): Promise<void> {
    while (this.#keys.length < count) {
      const name = `Organization ${this.#keys.length}`;
      const response = await fetch(`${this.baseUrl}/operator/v1/organizations`, {
        method: "POST",
        headers: { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" },
        body: JSON.stringify({ name, owner: { email: `owner.${this.#keys.length}@example.com`, name } }),
      });
      const { data } = (await response.json()) as { data: { api_key: { secret_key: string } } };
      this.#keys.push(data.api_key.secret_key);
    }
  }

  /** The processor time of the service and its database so far, in milliseconds; undefined if unknown. */
  async processorMs(): Promise<number | undefined> {
    const { cpuSeconds } = await this.counters();
    const ofDatabase = this.place.url === undefined ? 0 : await postgresMs();
    return ofDatabase === undefined ? undefined : cpuSeconds * 1_000 + ofDatabase;
  }

  counters(): Promise<Counters> {
    return readCounters(this.baseUrl);
  }

  /** Waits until no message is queued. Then vacuums, like autovacuum, which not every server runs. */
  async drain(): Promise<void> {
    const { queued } = await this.counters();
    await this.awaitDelivery(queued);
    if (this.place.url !== undefined) {
      await runOnServer(this.place.url, "vacuum analyze");
    }
  }

  /**
   * Waits until this many messages were delivered or failed since the start, or until `maxMs` have passed.
   * @throws Error if no more messages are delivered.
   */
  async awaitDelivery(count: number, maxMs = Number.POSITIVE_INFINITY): Promise<Counters> {
    const startedAt = performance.now();
    let [last, changedAt] = [0, startedAt];
    for (;;) {
      const counters = await this.counters();
      const { delivered, failed } = counters;
      const now = performance.now();
      if (delivered + failed >= count || now - startedAt > maxMs) {
        return counters;
      }
      if (delivered > last) {
        [last, changedAt] = [delivered, now];
      }
      if (now - changedAt > stalledMs) {
        throw new Error(`${this.name}: ${count - delivered - failed} messages are not delivered.`);
      }
      await sleep(50);
    }
  }

  /** A copy of the database, which must not be in use. */
  async copy(): Promise<Place> {
    const { url, dataDir } = this.place;
    const copied = await mkdtemp(join(tmpdir(), "tidings-messages-"));
    if (url === undefined) {
      await cp(dataDir, copied, { recursive: true });
      return { url, dataDir: copied };
    }
    const name = `${databaseOf(url)}_copy`;
    await runOnServer(serverUrl, `drop database if exists ${name} with (force)`);
    await runOnServer(serverUrl, `create database ${name} template ${databaseOf(url)}`);
    return { url: withDatabase(serverUrl, name), dataDir: copied };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#service) {
      await this.stop();
    }
    await removePlace(this.place);
  }

  async #start(program: string, env: Record<string, string>): Promise<void> {
    const { dataDir } = this.place;
    const { port, poolerPort } = this.#options;
    const url = this.place.url && poolerPort ? throughPgBouncer(this.place.url, poolerPort) : this.place.url;
    this.#service = await startProgram(program, {
      port,
      key,
      env: {
        ...(url === undefined ? {} : { DATABASE_URL: url }),
        TIDINGS_DATA_DIR: dataDir,
        TIDINGS_METRICS_TOKEN: metricsToken,
        TIDINGS_OPERATOR_KEY: operatorKey,
        ...env,
      },
    });
  }

  #running(): BenchService {
    if (!this.#service) {
      throw new Error(`${this.name} is not running.`);
    }
    return this.#service;
  }

  async #sendOne(
    pool: Pool,
    { keyed, unknown, organizations }: { keyed: boolean; unknown: boolean; organizations: number },
  ): Promise<boolean> {
    const number = this.#sent++;
    const to = unknown
      ? `+1212${2_000_000 + this.#strangers++}`
      : `+1415${5_000_000 + (number % knownRecipients)}`;
    const { statusCode, body } = await pool.request({
      method: "POST",
      path: "/v1/messages",
      headers: {
        "x-api-key": this.#keys[number % organizations] ?? key,
        "content-type": "application/json",
        ...(keyed ? { "idempotency-key": `message-${number}` } : {}),
      },
      body: JSON.stringify({ to, type: "text", text: { body: `Your order ${number} has been shipped.` } }),
    });
    await body.dump();
    return statusCode < 300;
  }
}

async function createPlace(engine: Engine): Promise<Place> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-messages-"));
  if (engine === "embedded") {
    return { url: undefined, dataDir };
  }
  const name = `tidings_messages_${process.pid}_${created++}`;
  await runOnServer(serverUrl, `create database ${name}`);
  return { url: withDatabase(serverUrl, name), dataDir };
}

let created = 0;

export async function removePlace({ url, dataDir }: Place): Promise<void> {
  if (url !== undefined) {
    await runOnServer(serverUrl, `drop database ${databaseOf(url)} with (force)`);
  }
  await rm(dataDir, { recursive: true, force: true });
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
