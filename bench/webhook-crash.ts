/**
 * R3: kill -9 of the service while it delivers webhooks; then checks that the receiver has every event.
 *
 * On PostgreSQL, or with `--embedded` on the embedded database. Each event belongs to an acknowledged message
 * of a customer; an event that arrives twice must have the same id.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../src/client/index.ts";
import { meanwhile } from "../test/support/meanwhile.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { webhooks } from "../tools/webhooks.ts";
import { pollUntil, startService } from "./support/service.ts";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const isEmbedded = process.argv.includes("--embedded");
const port = 39_431;
const key = `sk_live_${"r".repeat(43)}`;
const wanted = isEmbedded ? 500 : 2_000;
const kills = 5;
/** Many customers, because the events of one customer are delivered one after the other. */
const customers = 200;
const name = "tidings_webhook_crash";

/** The ids of each message's events, once for each arrival. */
const arrivals = new Map<string, string[]>();
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { id, data } = JSON.parse(Buffer.concat(chunks).toString()) as {
      id: string;
      data: { message_id: string };
    };
    arrivals.set(data.message_id, [...(arrivals.get(data.message_id) ?? []), id]);
    // A delay, so that a kill may happen between the arrival and its record.
    setTimeout(() => response.end("ok"), 20);
  });
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
const { port: hooks } = receiver.address() as AddressInfo; // it listens on a TCP port

const dataDir = await mkdtemp(join(tmpdir(), "tidings-webhook-crash-"));
if (!isEmbedded) {
  await runOnServer(server, `drop database if exists ${name} with (force)`);
  await runOnServer(server, `create database ${name}`);
}
const env = {
  TIDINGS_DATA_DIR: dataDir,
  TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true",
  ...(isEmbedded ? {} : { DATABASE_URL: withDatabase(server, name) }),
};
const start = () => startService(port, key, env);

let { child, baseUrl } = await start();
const client = createClient({ baseUrl, key });
await client.call(webhooks.create_webhook, {
  url: `http://127.0.0.1:${hooks}/`,
  events: ["message.received"],
});
const acknowledged = new Set<string>();
await meanwhile(Promise.all(Array.from({ length: 8 }, write)), async () => {
  for (let kill = 1; kill <= kills; kill += 1) {
    await pollUntil(() => arrivals.size > (wanted / (kills + 1)) * kill);
    child.kill("SIGKILL");
    await once(child, "exit");
    ({ child } = await start());
  }
});
// Jobs that were claimed before a kill are taken over within seconds, or when their lease ends, within a
// minute.
const end = Date.now() + 120_000;
await pollUntil(async () => isComplete() || Date.now() > end || (await sleep(200, false)));
report();
await client.close();
child.kill("SIGKILL");
await once(child, "exit");
receiver.closeAllConnections();
receiver.close();
await rm(dataDir, { recursive: true });
if (!isEmbedded) {
  await runOnServer(server, `drop database ${name} with (force)`);
}

/** Sends messages of customers; a message without a response is not counted. */
async function write(): Promise<void> {
  while (acknowledged.size < wanted) {
    const from = `+1415555${String(2_000 + (acknowledged.size % customers))}`;
    const answer = await fetch(`${baseUrl}/simulator/inbound`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ from, text: "Is my order on its way?" }),
    })
      .then(async (response) => (response.ok ? ((await response.json()) as InboundEvent) : undefined))
      .catch(() => undefined);
    if (answer) {
      acknowledged.add(answer.data.message_id);
    } else {
      await sleep(50);
    }
  }
}

interface InboundEvent {
  readonly data: { readonly message_id: string };
}

function isComplete(): boolean {
  return [...acknowledged].every((message) => arrivals.has(message));
}

function report(): void {
  const lost = [...acknowledged].filter((message) => !arrivals.has(message)).length;
  const doubled = [...arrivals.values()].filter((ids) => ids.length > 1);
  const renamed = doubled.filter((ids) => new Set(ids).size > 1).length;
  console.log(
    `${isEmbedded ? "embedded" : "PostgreSQL"}: ${acknowledged.size} events over ${kills} kills: ${lost} lost, ${doubled.length} arrived again, ${renamed} of those with another id`,
  );
}
