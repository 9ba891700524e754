/** R2: kill -9 of the service during 5,000 acknowledged writes, on both engines: is a write lost? */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../src/client/index.ts";
import { meanwhile } from "../test/support/meanwhile.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages/index.ts";
import { createPersistentClient } from "./support/persistent.ts";
import { pollUntil, startService } from "./support/service.ts";

const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const port = 39_418;
const baseUrl = `http://127.0.0.1:${port}`;
const key = `sk_live_${"c".repeat(43)}`;
const writes = 5_000;
const kills = 20;
const headers = { "x-api-key": key, "content-type": "application/json" };

await run("embedded", {});
await runOnServer(server, "drop database if exists tidings_crash with (force)");
await runOnServer(server, "create database tidings_crash");
await run("PostgreSQL", { DATABASE_URL: withDatabase(server, "tidings_crash") });
await runOnServer(server, "drop database tidings_crash with (force)");

async function run(engine: string, env: Record<string, string>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-crash-"));
  const client = createPersistentClient(baseUrl, key);
  const acknowledged = { contacts: [] as string[], messages: [] as string[] };
  const start = () => startService(port, key, { ...env, TIDINGS_DATA_DIR: dataDir });
  let { child } = await start();
  await meanwhile(write(client, acknowledged), async () => {
    for (let kill = 1; kill <= kills; kill += 1) {
      await pollUntil(
        () => acknowledged.contacts.length + acknowledged.messages.length > (writes / (kills + 1)) * kill,
      );
      child.kill("SIGKILL");
      await once(child, "exit");
      ({ child } = await start());
    }
  });
  await report(engine, client, acknowledged);
  await client.close();
  child.kill("SIGKILL");
  await once(child, "exit");
  await rm(dataDir, { recursive: true });
}

/** Writes contacts and messages in turn, 16 at a time, each until it is acknowledged. */
async function write(
  client: Client,
  acknowledged: { contacts: string[]; messages: string[] },
): Promise<void> {
  let next = 0;
  const writer = async () => {
    while (next < writes) {
      const number = next++;
      const phone_number = `+1415${String(5_000_000 + number)}`;
      const idempotencyKey = `write ${number}`;
      if (number % 2 === 0) {
        const { data } = await client.call(contacts.create_contact, { phone_number }, { idempotencyKey });
        acknowledged.contacts.push(data.id);
      } else {
        const input = { to: phone_number, type: "text", text: { body: `number ${number}` } } as const;
        const { data } = await client.call(messages.send_message, input, { idempotencyKey });
        acknowledged.messages.push(data.id);
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, writer));
}

async function report(
  engine: string,
  client: Client,
  acknowledged: { contacts: string[]; messages: string[] },
): Promise<void> {
  let missing = 0;
  for (const id of acknowledged.contacts) {
    await client.call(contacts.get_contact, { id }).catch(() => (missing += 1));
  }
  // Jobs that were claimed before a kill are taken over within seconds, or when their lease ends, within a
  // minute.
  const arrived = await untilArrived(acknowledged.messages.length);
  const doubled = arrived.length - new Set(arrived).size;
  const lost = acknowledged.messages.filter((id) => !new Set(arrived).has(id)).length;
  const total = acknowledged.contacts.length + acknowledged.messages.length;
  console.log(
    `${engine}: ${total} writes acknowledged over ${kills} kills: ${missing} contacts missing; at the channel ${lost} messages lost, ${doubled} doubled`,
  );
}

async function untilArrived(wanted: number): Promise<string[]> {
  const end = Date.now() + 150_000;
  for (;;) {
    const tokens = await arrivals();
    if (tokens.length >= wanted || Date.now() > end) {
      return tokens;
    }
    await sleep(2_000);
  }
}

/** The tokens of all messages on the phones that were written to. */
async function arrivals(): Promise<string[]> {
  const phones = Array.from({ length: writes / 2 }, (_, index) => `+1415${String(5_000_001 + index * 2)}`);
  const tokens: string[] = [];
  for (const phone of phones) {
    const answer = await fetch(`${baseUrl}/simulator/phones/${encodeURIComponent(phone)}/messages`, {
      headers,
    });
    const { data } = (await answer.json()) as { data: { token: string }[] };
    tokens.push(...data.map(({ token }) => token));
  }
  return tokens;
}
