/** Real processes: two on one database or data folder, takeover and shutdown. */
import { spawn } from "node:child_process";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import { apiKeys } from "../../tools/api-keys.ts";
import { contacts } from "../../tools/contacts.ts";
import { messages } from "../../tools/messages/index.ts";
import { ownerKey } from "../support/app.ts";
import { expectFailure } from "../support/expect-failure.ts";
import { meanwhile } from "../support/meanwhile.ts";
import { programPath } from "../support/process.ts";
import { openProcesses, type Processes, type ServedProcess, useService } from "../support/served-process.ts";

const serve = useService();
let starting: Promise<ServedProcess> | undefined;

/** On one database; the tests that use them share them. */
async function serveTwo(): Promise<readonly [ServedProcess, ServedProcess]> {
  const one = await serve();
  starting ??= one.processes.serve();
  return [one, await starting];
}

test("SIGTERM ends an idle service with exit code 0, and the log says so", async () => {
  await using processes = await openProcesses();
  const { process: served } = await processes.serve({
    TIDINGS_LOG_LEVEL: "info",
    TIDINGS_LOG_FORMAT: "text",
  });
  await served.end("SIGTERM");
  expect(served.child.exitCode).toBe(0);
  expect(served.stderr()).toMatch(
    / info {3}stopping: [^\n]+\n[\d:]{8} {2}info {3}stopped after [\d.]+ s {2}ms=\d+\n$/,
  );
});

test("a service that npm started ends with the shell between them, whatever ended that", async () => {
  await using processes = await openProcesses();
  const command = `"${process.execPath}" "${programPath}" serve --stop-with-parent & echo "pid $!"; wait`;
  const shell = spawn("sh", ["-c", command], {
    env: { ...process.env, ...processes.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  shell.stdout.on("data", (chunk) => (output += String(chunk)));
  await expect.poll(() => output, { timeout: 40_000 }).toContain("/v1");
  const pid = Number(/^pid (\d+)$/m.exec(output)?.[1]);
  shell.kill("SIGKILL");
  await expect.poll(() => isRunning(pid)).toBe(false);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a key revoked in one process is rejected at the next request to every other", async () => {
  const [one, other] = await serveTwo();
  const input = { name: "short", scopes: ["contacts:read"] };
  const { data } = await one.client.call(apiKeys.create_api_key, input);
  const key = data.secret_key;
  await other.client.call(contacts.list_contacts, {}, { key });
  await one.client.call(apiKeys.delete_api_key, { id: data.id });
  const failure = await expectFailure(other.client.call(contacts.list_contacts, {}, { key }));
  expect(failure).toMatchObject({ status: 401, code: "credential_invalid" });
}, 90_000);

test("a wait in one process returns the messages that another one receives, each once", {
  tags: "postgres",
  timeout: 90_000,
}, async () => {
  const [one, other] = await serveTwo();
  const wait = (after?: string, timeout_seconds = 20) =>
    one.client.call(messages.wait_for_message, { after, timeout_seconds });
  let { cursor } = (await wait(undefined, 0)).meta;
  const sent = Array.from({ length: 40 }, (_, number) => `number ${number}`);
  const write = (text: string, index: number) =>
    fetch(`${(index % 2 === 0 ? one : other).address}/simulator/inbound`, {
      method: "POST",
      headers: { "x-api-key": ownerKey, "content-type": "application/json" },
      body: JSON.stringify({ from: `+1415555${3000 + (index % 5)}`, text }),
    });
  const received: string[] = [];
  await meanwhile(Promise.all(sent.map(write)), async () => {
    while (received.length < sent.length) {
      const answer = await wait(cursor);
      received.push(...answer.data.flatMap(({ text }) => text?.body ?? []));
      cursor = answer.meta.cursor;
    }
  });
  expect(received.sort()).toEqual(sent.sort());
  const [last] = await Promise.all([wait(cursor), write("from the other", 1)]);
  expect(last.data).toMatchObject([{ text: { body: "from the other" } }]);
});

test("two MCP servers on one folder: the first is killed, the second continues", {
  tags: "embedded",
  timeout: 90_000,
}, async () => {
  await using processes = await openProcesses();
  const [first, second] = [await connect(processes), await connect(processes)];
  const created = await first.callTool({
    name: "create_contact",
    arguments: { phone_number: "+14155550212" },
  });
  expect(created).toMatchObject({ structuredContent: { data: { phone_number: "+14155550212" } } });
  expect(await second.callTool({ name: "list_contacts", arguments: {} })).toMatchObject({
    structuredContent: { meta: { total: 1 } },
  });
  process.kill((first.transport as StdioClientTransport).pid ?? 0, "SIGKILL");
  const after = await second.callTool({
    name: "create_contact",
    arguments: { phone_number: "+14155550213" },
  });
  expect(after).toMatchObject({ structuredContent: { data: { phone_number: "+14155550213" } } });
  expect(await second.callTool({ name: "list_contacts", arguments: {} })).toMatchObject({
    structuredContent: { meta: { total: 2 } },
  });
  await second.close();
});

test("a second service on a folder forwards requests, and takes over", {
  tags: "embedded",
  timeout: 90_000,
}, async () => {
  await using processes = await openProcesses();
  const [owner, follower] = [await processes.serve(), await processes.serve()];
  const { data } = await follower.client.call(contacts.create_contact, { phone_number: "+14155550214" });
  expect(await owner.client.call(contacts.get_contact, { id: data.id })).toEqual({ data });
  await owner.process.end("SIGKILL");
  expect(await follower.client.call(contacts.get_contact, { id: data.id })).toEqual({ data });
});

async function connect(processes: Processes): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const env = { ...process.env, ...processes.env, TIDINGS_LOG_LEVEL: "error" } as Record<string, string>;
  const args = [programPath, "mcp"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  return client;
}
