/** Real processes: killed in the middle, two on one folder, and told to stop. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createClient } from "../../src/client.ts";
import { apiKeys } from "../../tools/api-keys.ts";
import { contacts } from "../../tools/contacts.ts";
import { messages } from "../../tools/messages.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { refusal } from "../support/failure.ts";
import { ownerKey } from "../support/house.ts";
import { type Process, startProcess } from "../support/process.ts";

let database: FreshDatabase;
let running: Process[];
beforeEach(async () => {
  database = await freshDatabase();
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((process) => process.end("SIGKILL")));
  await database[Symbol.asyncDispose]();
});

async function serve() {
  const env = { ...database.env, PORT: "0", TIDINGS_BOOTSTRAP_KEY: ownerKey, TIDINGS_RATE_LIMIT: "100000" };
  const process = startProcess(["serve"], env);
  running.push(process);
  const [, address = ""] = await process.says(/REST\s+(http:\S+)\/v1/);
  await process.says(/Over HTTP/);
  return { process, address, client: createClient({ baseUrl: address, key: ownerKey }) };
}

test("kill -9 while messages are queued: none is lost, none is sent twice", async () => {
  const before = await serve();
  const to = "+14155550211";
  const headers = { "x-api-key": ownerKey, "content-type": "application/json" };
  await fetch(`${before.address}/simulator/faults`, {
    method: "PUT",
    headers,
    body: JSON.stringify({ accept_delay_ms: 15 }),
  });
  const text = (number: number) => ({ to, type: "text", text: { body: `number ${number}` } }) as const;
  const accepted: string[] = [];
  const sending = Array.from({ length: 60 }, async (_, number) => {
    const { data } = await before.client.call(messages.send_message, text(number), { timeoutMs: 20_000 });
    accepted.push(data.id);
  });
  await Promise.race([Promise.all(sending), until(() => accepted.length >= 40)]);
  await before.process.end("SIGKILL");
  await Promise.allSettled(sending);

  const after = await serve();
  const shown = async () => {
    const path = `/simulator/phones/${encodeURIComponent(to)}/messages?limit=200`;
    const answer = await fetch(after.address + path, { headers });
    return ((await answer.json()) as { data: { token: string; status: string }[] }).data;
  };
  // What was claimed when the process died comes back with its lease, a minute later at the most.
  const everyone = async () => {
    const tokens = new Set((await shown()).map(({ token }) => token));
    return accepted.every((id) => tokens.has(id));
  };
  await until(everyone, 100_000);
  const tokens = (await shown()).map(({ token }) => token);
  expect(new Set(tokens).size).toBe(tokens.length);
  await after.client.close();
}, 150_000);

test("kill -9 while writes are acknowledged: each one is there afterwards", async () => {
  const before = await serve();
  const acknowledged: string[] = [];
  const write = async (number: number) => {
    const phone_number = `+1415555${String(number).padStart(4, "0")}`;
    const { data } = await before.client.call(
      contacts.create_contact,
      { phone_number },
      { timeoutMs: 20_000 },
    );
    acknowledged.push(data.id);
  };
  const writing = Array.from({ length: 400 }, (_, number) => write(number));
  await until(() => acknowledged.length >= 200);
  await before.process.end("SIGKILL");
  await Promise.allSettled(writing);

  const after = await serve();
  for (const id of acknowledged) {
    await after.client.call(contacts.get_contact, { id });
  }
  await after.client.close();
}, 90_000);

test("SIGTERM ends a service that is not busy within a moment, with nothing left to recover", async () => {
  const { process } = await serve();
  await process.end("SIGTERM");
  expect(process.child.exitCode).toBe(0);
});

test("a key revoked in one process is refused at the next request of every other", async () => {
  const [one, other] = [await serve(), await serve()];
  const input = { name: "short", scopes: ["contacts:read"] };
  const { data } = await one.client.call(apiKeys.create_api_key, input);
  const key = data.secret_key;
  await other.client.call(contacts.list_contacts, {}, { key });
  await one.client.call(apiKeys.delete_api_key, { id: data.id });
  const refused = await refusal(other.client.call(contacts.list_contacts, {}, { key }));
  expect(refused).toMatchObject({ status: 401, code: "credential_invalid" });
}, 90_000);

test.runIf(process.env.TIDINGS_TEST_ENGINE === "postgres")(
  "who waits in one process hears what another one takes, each message once",
  async () => {
    const [one, other] = [await serve(), await serve()];
    const wait = async (after?: string, timeout_seconds = 20) =>
      (await one.client.call(messages.wait_for_message, { after, timeout_seconds })).data;
    let { cursor } = await wait(undefined, 0);
    const sent = Array.from({ length: 40 }, (_, number) => `number ${number}`);
    const write = (text: string, index: number) =>
      fetch(`${(index % 2 === 0 ? one : other).address}/simulator/inbound`, {
        method: "POST",
        headers: { "x-api-key": ownerKey, "content-type": "application/json" },
        body: JSON.stringify({ from: `+1415555${3000 + (index % 5)}`, text }),
      });
    const writing = Promise.all(sent.map(write));
    const heard: string[] = [];
    while (heard.length < sent.length) {
      const answer = await wait(cursor);
      heard.push(...answer.messages.flatMap(({ text }) => text?.body ?? []));
      cursor = answer.cursor;
    }
    await writing;
    expect(heard.sort()).toEqual(sent.sort());
    const waiting = wait(cursor);
    await write("from the other", 1);
    expect((await waiting).messages).toMatchObject([{ text: { body: "from the other" } }]);
  },
  90_000,
);

test.runIf(process.env.TIDINGS_TEST_ENGINE === "embedded")(
  "two MCP servers on one folder: the first is killed, the second goes on",
  async () => {
    const [first, second] = [await connect(), await connect()];
    const created = await first.callTool({
      name: "create_contact",
      arguments: { phone_number: "+14155550212" },
    });
    expect(created.isError).toBeFalsy();
    expect(await second.callTool({ name: "list_contacts", arguments: {} })).toMatchObject({
      structuredContent: { meta: { total: 1 } },
    });
    process.kill((first.transport as StdioClientTransport).pid ?? 0, "SIGKILL");
    const after = await second.callTool({
      name: "create_contact",
      arguments: { phone_number: "+14155550213" },
    });
    expect(after.isError, JSON.stringify(after.content)).toBeFalsy();
    expect(await second.callTool({ name: "list_contacts", arguments: {} })).toMatchObject({
      structuredContent: { meta: { total: 2 } },
    });
    await second.close();
  },
  90_000,
);

test.runIf(process.env.TIDINGS_TEST_ENGINE === "embedded")(
  "a second service on a folder passes requests on, and takes over",
  async () => {
    const [owner, follower] = [await serve(), await serve()];
    const { data } = await follower.client.call(contacts.create_contact, { phone_number: "+14155550214" });
    expect(await owner.client.call(contacts.get_contact, { id: data.id })).toEqual({ data });
    await owner.process.end("SIGKILL");
    expect(await follower.client.call(contacts.get_contact, { id: data.id })).toEqual({ data });
  },
  90_000,
);

async function connect(): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const env = { ...process.env, ...database.env, TIDINGS_LOG_LEVEL: "error" } as Record<string, string>;
  const args = ["--import", "tsx", "src/main.ts", "mcp"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  return client;
}

async function until(holds: () => boolean | Promise<boolean>, forMs = 30_000): Promise<void> {
  const end = Date.now() + forMs;
  while (!(await holds())) {
    if (Date.now() > end) {
      throw new Error("it did not come about in time");
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
