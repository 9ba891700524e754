/** A data folder has one owner at a time, even when processes race, crash or restart. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type DataFolder, openDataFolder } from "../src/cli/data-folder/data-folder.ts";
import { openInstance } from "../src/cli/data-folder/instance.ts";
import { readConfig } from "../src/config/index.ts";
import { exitedThreadId } from "../src/database/embedded/port-stream.ts";
import { silentLog } from "./support/app.ts";
import { iterations } from "./support/iterations.ts";

const onLost = () => undefined;
/** This process as the owner, before it listens. */
const self = { pid: process.pid, address: undefined };

let dir: string;
let bundle: string;
const children = new Set<ChildProcess>();

// One bundle, so that the processes need no TypeScript loader and start in a tenth of the time.
beforeAll(async () => {
  bundle = join(await fs.mkdtemp(join(tmpdir(), "tidings-folder-bundle-")), "data-folder.mjs");
  await build({
    entryPoints: ["src/cli/data-folder/data-folder.ts"],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "esm",
  });
});

afterAll(() => fs.rm(dirname(bundle), { recursive: true }));

beforeEach(async () => {
  dir = join(await fs.realpath(await fs.mkdtemp(join(tmpdir(), "tidings-folder-"))), "data");
});

afterEach(async () => {
  for (const child of children) {
    child.kill("SIGKILL");
  }
  children.clear();
  await fs.rm(join(dir, ".."), { recursive: true, force: true });
});

/** Starts a process that executes the commands "claim", "release" and "credential". */
async function startContender(): Promise<ChildProcess> {
  const program = `
    const { openDataFolder } = await import(${JSON.stringify(pathToFileURL(bundle).href)});
    const folder = await openDataFolder(${JSON.stringify(dir)});
    let ownership;
    const commands = {
      async claim() {
        ownership = await folder.claim({ onLost: () => process.exit(3) });
        return ownership !== undefined;
      },
      release: () => ownership.release(),
      credential: () => folder.credential(),
    };
    process.on("message", async (command) => process.send({ answer: await commands[command]() }));
    process.on("disconnect", () => process.exit());
    process.send("ready");
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  children.add(child);
  await once(child, "message");
  return child;
}

async function run(child: ChildProcess, command: "claim" | "release" | "credential"): Promise<unknown> {
  const answer = once(child, "message");
  child.send(command);
  const [message] = await answer;
  return message.answer;
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
  children.delete(child);
}

async function race(contenders: readonly ChildProcess[]): Promise<ChildProcess[]> {
  const won = await Promise.all(contenders.map((child) => run(child, "claim")));
  return contenders.filter((_, index) => won[index] === true);
}

/** Changes fields of the owner file of a generation. */
async function rewriteOwner(generation: number, change: object): Promise<void> {
  const file = join(dir, `owner.${generation}`);
  const owner = JSON.parse(await fs.readFile(file, "utf8"));
  await fs.writeFile(file, JSON.stringify({ ...owner, ...change }));
}

test("of eight processes that claim at once one becomes the owner, and another one after it is killed, 20 times", async () => {
  let contenders = await Promise.all(Array.from({ length: 8 }, startContender));
  const folder = await openDataFolder(dir);
  for (let round = 0; round < iterations(4, 20); round += 1) {
    const winners = await race(contenders);
    expect(winners).toHaveLength(1);
    expect(await folder.owner()).toMatchObject({ pid: winners[0]?.pid });
    expect(await race(contenders)).toHaveLength(0);

    const [replacement] = await Promise.all([startContender(), ...winners.map(kill)]);
    expect(await folder.owner()).toBeUndefined();
    contenders = [...contenders.filter((child) => !winners.includes(child)), replacement];
  }
}, 60_000);

test("a released folder can be claimed at once, also by several processes", async () => {
  const contenders = await Promise.all(Array.from({ length: 4 }, startContender));
  for (let round = 0; round < 20; round += 1) {
    const winners = await race(contenders);
    expect(winners).toHaveLength(1);
    await Promise.all(winners.map((winner) => run(winner, "release")));
  }
  expect((await fs.readdir(dir)).filter((name) => name.startsWith("owner"))).toEqual(["owner.20"]);
}, 30_000);

test("followers see the owner's address, and when it ends", async () => {
  const folder = await openDataFolder(dir);
  expect(await folder.owner()).toBeUndefined();

  const ownership = await folder.claim({ onLost });
  expect(await folder.claim({ onLost })).toBeUndefined();
  expect(await folder.owner()).toEqual(self);
  await ownership?.publish("http://127.0.0.1:3000");
  expect(await folder.owner()).toEqual({ pid: process.pid, address: "http://127.0.0.1:3000" });

  await Promise.all([folder.waitForOwnerEnd(new AbortController().signal), ownership?.release()]);
  expect(await folder.owner()).toBeUndefined();
});

test("a start that fails ends its database engine before it gives the folder up", async () => {
  const spy = vi.spyOn(Worker.prototype, "once");
  const folder = await openDataFolder(dir);
  await fs.writeFile(join(dir, "credential"), "damaged");
  const threadIds: (number | undefined)[] = [];
  const claim: DataFolder["claim"] = async (options) => {
    const ownership = await folder.claim(options);
    const release = async () => {
      // The contexts of a spy are the objects on which it was called.
      threadIds.push((spy.mock.contexts[0] as Worker | undefined)?.threadId);
      await ownership?.release();
    };
    return ownership && { ...ownership, release };
  };
  const opening = openInstance({
    config: readConfig({ TIDINGS_DATA_DIR: dir }).config,
    folder: { ...folder, claim },
    log: silentLog,
    listen: { host: "127.0.0.1", port: 0 },
    onLost,
    onFirstStart() {},
  });
  await expect(opening).rejects.toThrow("does not contain a key");
  expect(threadIds).toEqual([exitedThreadId]);
  expect(await folder.owner()).toBeUndefined();
});

test("waiting for the owner's end stops at the signal", async () => {
  const folder = await openDataFolder(dir);
  const ownership = await folder.claim({ onLost });
  const stopped = new AbortController();
  const waiting = folder.waitForOwnerEnd(stopped.signal);
  stopped.abort();
  await waiting;
  await ownership?.release();
});

test.runIf(process.platform === "linux")("a reused pid is not mistaken for the owner", async () => {
  const folder = await openDataFolder(dir);
  await folder.claim({ onLost });
  expect(await folder.owner()).toEqual(self);
  await rewriteOwner(1, { started: "1", nonce: "an earlier run" });
  expect(await folder.owner()).toBeUndefined();
  await folder.claim({ onLost });
  expect(await folder.owner()).toEqual(self);
});

test("an owner on another host is alive as long as its heartbeat is recent", async () => {
  const folder = await openDataFolder(dir);
  await folder.claim({ onLost });
  await rewriteOwner(1, { place: `not ${hostname()}`, nonce: "another host's" });
  expect(await folder.claim({ onLost })).toBeUndefined();

  const before = new Date(Date.now() - 16_000);
  await fs.utimes(join(dir, "owner.1"), before, before);
  await folder.claim({ onLost });
  expect(await folder.owner()).toEqual(self);
});

test.each(["", "null", "[1]", '{"pid":"1"}'])(
  "an owner file that is damaged (%s) counts as an owner until it is old",
  async (content) => {
    const folder = await openDataFolder(dir);
    await fs.writeFile(join(dir, "owner.7"), content);
    expect(await folder.claim({ onLost })).toBeUndefined();

    const before = new Date(Date.now() - 16_000);
    await fs.utimes(join(dir, "owner.7"), before, before);
    await folder.claim({ onLost });
    expect(await folder.owner()).toEqual(self);
    expect(await fs.readdir(dir)).toEqual(["owner.8"]);
  },
);

test.each([5, "https://example.com:443", "http://example.com:80/path", "http://127.0.0.1:80@example.com:80"])(
  "an owner's address that no service has written (%s) is not used",
  async (address) => {
    const folder = await openDataFolder(dir);
    await folder.claim({ onLost });
    await rewriteOwner(1, { address });
    expect((await folder.owner())?.address).toBeUndefined();
  },
);

test("an owner that lost the folder is notified, and does not change the new owner's file", async () => {
  const folder = await openDataFolder(dir);
  const lost = new AbortController();
  const ownership = await folder.claim({ onLost: () => lost.abort() });
  await fs.copyFile(join(dir, "owner.1"), join(dir, "owner.2"));
  await rewriteOwner(2, { nonce: "the new owner's" });
  const newer = await fs.readFile(join(dir, "owner.2"), "utf8");

  await once(lost.signal, "abort");
  await ownership?.release();
  expect(await fs.readFile(join(dir, "owner.2"), "utf8")).toBe(newer);
});

test("processes that request the credential at once get the same one, readable only by its user", async () => {
  const contenders = await Promise.all(Array.from({ length: 6 }, startContender));
  const keys = await Promise.all(contenders.map((child) => run(child, "credential")));
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^sk_live_[\w-]{43}$/);

  const mode = async (name: string) => (await fs.stat(join(dir, name))).mode & 0o777;
  expect(await fs.readdir(dir)).toEqual(["credential"]);
  expect(await mode("credential")).toBe(0o600);
  expect(await mode(".")).toBe(0o700);
}, 30_000);

test("a credential file without a key is an error that says what to do", async () => {
  const folder = await openDataFolder(dir);
  await fs.writeFile(join(dir, "credential"), "");
  await expect(folder.credential()).rejects.toThrow(/credential does not contain a key\. Delete it/);
});

test("a folder that can't be written to is an error of one sentence", async () => {
  await fs.writeFile(dir, "a file");
  await expect(openDataFolder(dir)).rejects.toThrow(
    `The data folder ${dir} can't be used (EEXIST): choose a folder that is writable`,
  );
});
