/** Two processes of the service on PostgreSQL with a WhatsApp inbox at the emulator. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "../../../src/client/index.ts";
import { openDatabase } from "../../../src/database/connect.ts";
import type { Database, Queries } from "../../../src/database/database.ts";
import { runOnServer, withDatabase } from "../../../test/support/postgres.ts";
import { inboxes } from "../../../tools/inboxes.ts";
import { type ProcessorTimes, readProcessorTimes } from "../messages/processor-time.ts";
import { createPersistentClient } from "../persistent.ts";
import { pollUntil, startService } from "../service.ts";
import { type BenchEmulator, businessNumber, credentials, startEmulatorProcess } from "./emulator.ts";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const key = `sk_live_${"m".repeat(43)}`;
const emulatorPort = 39_520;
const ports = [39_521, 39_522] as const;
/** The rate of the inbox, equal to the rate of a new number at Meta. */
export const perSecond = 80;
const log = { debug() {}, info() {}, warn() {}, error: console.error };

interface ServiceProcess {
  readonly port: number;
  child: ChildProcess;
}

export interface Deployment extends AsyncDisposable {
  readonly emulator: BenchEmulator;
  /** A client for each process. The clients repeat a call that is not answered. */
  readonly clients: readonly [Client, Client];
  readonly queries: Queries;
  readonly inboxId: string;
  /** The address to which the emulator reports, at the first process. */
  readonly callbackUrl: string;
  /** Kills a process with -9 and starts it again. */
  restart(index: number): Promise<void>;
  processorTimes(): Promise<ProcessorTimes>;
}

export async function startDeployment(): Promise<Deployment> {
  const name = `tidings_whatsapp_${process.pid}`;
  const url = withDatabase(server, name);
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-whatsapp-"));
  await runOnServer(server, `create database ${name}`);
  const emulator = await startEmulatorProcess(emulatorPort);
  const start = async (port: number): Promise<ServiceProcess> => {
    const env = {
      DATABASE_URL: url,
      TIDINGS_DATA_DIR: dataDir,
      TIDINGS_PUBLIC_URL: `http://127.0.0.1:${ports[0]}`,
      TIDINGS_WHATSAPP_BASE_URL: emulator.baseUrl,
    };
    return { port, child: (await startService(port, key, env)).child };
  };
  const services = [await start(ports[0]), await start(ports[1])];
  const connect = (port: number) => createPersistentClient(`http://127.0.0.1:${port}`, key);
  const clients = [connect(ports[0]), connect(ports[1])] as const;
  const database: Database = await openDatabase({ url, dataDir, poolSize: 2, log });
  const inbox = await createInbox(clients[0], emulator);
  return {
    emulator,
    clients,
    ...inbox,
    queries: database.queries,
    async restart(index) {
      const service = services[index];
      if (service) {
        await kill(service);
        service.child = (await start(service.port)).child;
      }
    },
    processorTimes: () => readProcessorTimes(services.map(({ child }) => child)),
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.close()));
      await database[Symbol.asyncDispose]();
      await Promise.all(services.map(kill));
      await emulator[Symbol.asyncDispose]();
      await runOnServer(server, `drop database ${name} with (force)`);
      await rm(dataDir, { recursive: true });
    },
  };
}

async function kill({ child }: ServiceProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function createInbox(client: Client, { control }: BenchEmulator) {
  const input = { name: "WhatsApp", channel: "whatsapp", phone_number: businessNumber, credentials } as const;
  // The emulator reports that the number may send more.
  const settings = { messages_per_second: perSecond };
  const { data } = await client.call(inboxes.create_inbox, { ...input, settings });
  const callbackUrl = data.callback_url ?? "";
  await control("POST", `/apps/${credentials.app_id}`, { callback_url: callbackUrl });
  return { inboxId: data.id, callbackUrl };
}

/** The number of the person with this index. */
export const numberOf = (index: number) => `+1415${5_000_000 + index}`;

/** Lets these persons write, which opens their windows. Resolves when the service has stored the messages. */
export async function openWindows(
  { emulator, queries }: Deployment,
  persons: readonly number[],
): Promise<void> {
  const messages = persons.map((index) => ({ from: numberOf(index), text: "Hello" }));
  for (let first = 0; first < messages.length; first += 100) {
    await emulator.control("POST", "/inbound", { messages: messages.slice(first, first + 100) });
  }
  await pollUntil(async () => (await countReceived(queries)) >= persons.length);
}

export async function countReceived(queries: Queries): Promise<number> {
  const { count } = await queries
    .selectFrom("messages")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("direction", "=", "inbound")
    .executeTakeFirstOrThrow();
  return Number(count);
}
