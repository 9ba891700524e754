/** The key of the data folder reaches no server that has not proved that it has this key. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { type DataFolder, openDataFolder } from "../../src/cli/data-folder/data-folder.ts";
import { startTestApp } from "../support/app.ts";
import { lendTestDatabase } from "../support/database.ts";
import { meanwhile } from "../support/meanwhile.ts";
import { ownPort } from "../support/own-port.ts";
import { programPath, startProcess, type TidingsProcess } from "../support/process.ts";
import { startUpstream, type Upstream } from "../support/scripted-service.ts";
import { openProcesses, waitUntil } from "../support/served-process.ts";

/** A record as a crash leaves it behind: its process runs, and another program listens at its address. */
async function recordForeignServer(folder: DataFolder, foreign: Upstream) {
  const ownership = await folder.claim({ onLost: () => undefined });
  await ownership?.publish(foreign.url);
  const release = async () => ownership?.release();
  return { release, [Symbol.asyncDispose]: release };
}

async function expectOneWarning({ stderr }: TidingsProcess, foreign: Upstream): Promise<void> {
  const warning = /^tidings: The program at (\S+) did not prove that it serves the data folder .*$/gm;
  await waitUntil(() => stderr().includes("did not prove") && foreign.requests.length >= 3);
  expect(Array.from(stderr().matchAll(warning), ([, address]) => address)).toEqual([foreign.url]);
}

async function expectNoKey(folder: DataFolder, foreign: Upstream): Promise<void> {
  expect(JSON.stringify(foreign.requests)).not.toContain(await folder.credential());
  expect(new Set(foreign.requests.map(({ path }) => path.split("?")[0]))).toEqual(
    new Set(["/data-folder/proof"]),
  );
}

test("tidings listen waits for the folder's own service", { tags: "embedded" }, async () => {
  await using processes = await openProcesses();
  await using foreign = await startUpstream([{ status: 200, body: "It works!" }]);
  const folder = await openDataFolder(processes.env.TIDINGS_DATA_DIR ?? "");
  await using record = await recordForeignServer(folder, foreign);
  const listening = processes.start(["listen", "--forward-to", "http://127.0.0.1:1/"], { PORT: "1" });
  await expectOneWarning(listening, foreign);
  await record.release();
  await processes.serve();
  await listening.waitForOutput(/Listening/);
  await expectNoKey(folder, foreign);
});

test("tidings listen sends no key to another program on the service's port", async () => {
  await using database = await lendTestDatabase();
  await using foreign = await startUpstream([{ status: 404 }], ownPort);
  const { env } = database;
  const folder = await openDataFolder(env.TIDINGS_DATA_DIR ?? "");
  const settings = { ...env, PORT: String(ownPort) };
  const listening = startProcess(["listen", "--forward-to", "http://127.0.0.1:1/"], settings);
  onTestFinished(() => listening.end("SIGKILL"));
  await expectOneWarning(listening, foreign);
  await foreign[Symbol.asyncDispose]();
  await using _service = await startTestApp({ database, localKey: await folder.credential(), port: ownPort });
  await listening.waitForOutput(/Listening/);
  await expectNoKey(folder, foreign);
});

test("tidings serve forwards nothing to a program that does not prove itself, and takes over after its owner", {
  tags: "embedded",
}, async () => {
  await using processes = await openProcesses();
  await using foreign = await startUpstream([{ status: 404 }]);
  const folder = await openDataFolder(processes.env.TIDINGS_DATA_DIR ?? "");
  await using record = await recordForeignServer(folder, foreign);
  const serving = processes.start(["serve"], { PORT: "0" });
  await expectOneWarning(serving, foreign);
  expect(serving.stdout()).not.toContain("REST");
  await record.release();
  const [, address] = await serving.waitForOutput(/REST\s+(\S+)\/v1/);
  expect((await folder.owner())?.address).toBe(address);
  await expectNoKey(folder, foreign);
});

test("a call of tidings mcp waits for the folder's own service", {
  tags: "embedded",
}, async () => {
  await using processes = await openProcesses();
  await using foreign = await startUpstream([{ body: { data: [] } }]);
  const folder = await openDataFolder(processes.env.TIDINGS_DATA_DIR ?? "");
  await using record = await recordForeignServer(folder, foreign);
  const client = new Client({ name: "test", version: "1.0.0" });
  const settings = { ...process.env, ...processes.env, TIDINGS_LOG_LEVEL: "error" } as Record<string, string>;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [programPath, "mcp"],
    env: settings,
    stderr: "ignore",
  });
  await client.connect(transport);
  const answer = await meanwhile(client.callTool({ name: "list_contacts", arguments: {} }), async () => {
    await waitUntil(() => foreign.requests.length >= 3);
    await record.release();
  });
  expect(answer).toMatchObject({ structuredContent: { data: [] } });
  expect((await folder.owner())?.pid).toBe(transport.pid);
  await client.close();
  await expectNoKey(folder, foreign);
});
