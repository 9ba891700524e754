/** The first start on a port in use, and `tidings keys create` for who has lost the first key. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDataFolder } from "../../src/cli/data-folder/data-folder.ts";
import { apiKeys } from "../../tools/api-keys.ts";
import { auth } from "../../tools/auth.ts";
import { allScopes } from "../../tools/contract/index.ts";
import { ownerKey, startTestApp } from "../support/app.ts";
import { runCommand } from "../support/command.ts";
import { startProcess, type TidingsProcess } from "../support/process.ts";
import { startReceiver } from "../support/receiver.ts";
import { openProcesses, useService } from "../support/served-process.ts";

const serve = useService();

/** The key that the command printed. */
function readKey(output: string): string {
  const [, key = ""] = /API key {3}(sk_live_\S+)/.exec(output) ?? [];
  return key;
}

async function waitForExit(process: TidingsProcess) {
  const [status] = await once(process.child, "close");
  return { status, stdout: process.stdout(), stderr: process.stderr() };
}

test("a first start on a port in use prints no credentials; the next start does", async () => {
  await using processes = await openProcesses();
  const output = await (async () => {
    await using taken = await startReceiver();
    return await waitForExit(processes.start(["serve"], { PORT: String(taken.port) }));
  })();
  expect(output).toEqual({
    status: 1,
    stdout: "",
    stderr: expect.stringMatching(/^tidings: Port \d+ of 127/),
  });
  const { process } = await processes.serve();
  expect(process.stdout()).toContain("Tidings was started for the first time.");
});

test("a key is created while the service runs, with the options' name, scopes and expiry", async () => {
  const { client, processes } = await serve();
  const options = ["--name", "Rescue", "--scopes", "contacts.read,tokens:read", "--expires-in-days", "2"];
  const before = Date.now();
  const key = readKey((await runCommand(["keys", "create", ...options], processes.env)).stdout);
  const after = Date.now();
  const { data } = await client.call(auth.whoami, {}, { key });
  expect(new Set(data.scopes)).toEqual(new Set(["contacts:read", "tokens:read"]));
  const keys = await client.call(apiKeys.list_api_keys, {}, { key });
  const { expires_at } = keys.data.find(({ name }) => name === "Rescue") ?? {};
  // Two days after a time at which the command ran.
  const ranAt = Date.parse(expires_at ?? "") - 48 * 3_600_000;
  expect([before, ranAt, after]).toEqual([before, ranAt, after].toSorted((a, b) => a - b));
});

test("a key is created while no service runs, with all scopes", async () => {
  await using processes = await openProcesses();
  const { database } = processes;
  await (await startTestApp({ database }))[Symbol.asyncDispose]();
  const { stdout } = await waitForExit(processes.start(["keys", "create"]));
  await using app = await startTestApp({ database });
  const { data } = await app.call(auth.whoami, {}, { key: readKey(stdout) });
  expect(new Set(data.scopes)).toEqual(new Set(allScopes));
});

test("in a folder where no service was started, nothing is created", async () => {
  const folder = join(tmpdir(), `tidings-none-${randomUUID()}`);
  const output = await runCommand(["keys", "create"], { DATABASE_URL: "", TIDINGS_DATA_DIR: folder });
  expect({ ...output, isCreated: existsSync(folder) }).toEqual({
    status: 1,
    stdout: "",
    stderr: `tidings: No service was started in ${folder} yet. Set TIDINGS_DATA_DIR to its folder, or run tidings serve.\n`,
    isCreated: false,
  });
});

test("the route answers to the folder's own key alone", async () => {
  const { address, processes } = await serve();
  const call = (key: string, name: unknown = "mine") =>
    fetch(`${address}/data-folder/keys`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ name, scopes: ["tokens:create"] }),
    });
  expect((await call(ownerKey)).status).toBe(404);
  const folder = await openDataFolder(processes.env.TIDINGS_DATA_DIR ?? "");
  expect((await call(await folder.credential())).ok).toBe(true);
  const invalid = await call(await folder.credential(), 7);
  expect([invalid.status, await invalid.json()]).toMatchObject([
    400,
    { error: { param: "name", details: [{ message: "It must be a text, and is a number." }] } },
  ]);
});

test.each([
  [["--scopes", "everything"], /^tidings: There is no scope "everything"\. .*of: contacts:read/],
  [["--expires-in-days", "0"], /^tidings: --expires-in-days takes a whole number from 1 to 36500/],
  [["--name", "x".repeat(256)], /^tidings: --name takes 1 to 255 characters/],
  [["--forward-to", "http://127.0.0.1"], /^tidings: --forward-to is an option of tidings listen/],
])("keys create %s is rejected", async (options, message) => {
  const { status, stdout, stderr } = await waitForExit(startProcess(["keys", "create", ...options], {}));
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: "",
    stderr: expect.stringMatching(message),
  });
});
