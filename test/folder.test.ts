/** The data folder has one owner at a time, whatever its processes go through. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openDataFolder } from "../src/cli/data-folder.ts";

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
    entryPoints: ["src/cli/data-folder.ts"],
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

/** A process of its own that does what it is told: "claim", "release" or "credential". */
async function contender(): Promise<ChildProcess> {
  const program = `
    const { openDataFolder } = await import(${JSON.stringify(pathToFileURL(bundle).href)});
    const folder = await openDataFolder(${JSON.stringify(dir)});
    let ownership;
    const orders = {
      async claim() {
        ownership = await folder.claim({ onLost: () => process.exit(3) });
        return ownership !== undefined;
      },
      release: () => ownership.release(),
      credential: () => folder.credential(),
    };
    process.on("message", async (order) => process.send({ answer: await orders[order]() }));
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

async function tell(child: ChildProcess, order: "claim" | "release" | "credential"): Promise<unknown> {
  const answer = once(child, "message");
  child.send(order);
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
  const won = await Promise.all(contenders.map((child) => tell(child, "claim")));
  return contenders.filter((_, place) => won[place] === true);
}

/** What the owner before us left in its file, changed as a test needs it. */
async function rewriteOwner(generation: number, change: object): Promise<void> {
  const file = join(dir, `owner.${generation}`);
  const holder = JSON.parse(await fs.readFile(file, "utf8"));
  await fs.writeFile(file, JSON.stringify({ ...holder, ...change }));
}

test("of eight processes that claim at once one owns, and when it is killed one of the others, 20 times", async () => {
  let contenders = await Promise.all(Array.from({ length: 8 }, contender));
  const folder = await openDataFolder(dir);
  for (let round = 0; round < 20; round += 1) {
    const winners = await race(contenders);
    expect(winners).toHaveLength(1);
    expect(await folder.owner()).toMatchObject({ pid: winners[0]?.pid });
    expect(await race(contenders)).toHaveLength(0);

    const [replacement] = await Promise.all([contender(), ...winners.map(kill)]);
    expect(await folder.owner()).toBeUndefined();
    contenders = [...contenders.filter((child) => !winners.includes(child)), replacement];
  }
}, 60_000);

test("a released folder is claimable at once, also by many", async () => {
  const contenders = await Promise.all(Array.from({ length: 4 }, contender));
  for (let round = 0; round < 20; round += 1) {
    const winners = await race(contenders);
    expect(winners).toHaveLength(1);
    await Promise.all(winners.map((winner) => tell(winner, "release")));
  }
  expect((await fs.readdir(dir)).filter((name) => name.startsWith("owner"))).toEqual(["owner.20"]);
}, 30_000);

test("followers learn where the owner listens, and when it ends", async () => {
  const folder = await openDataFolder(dir);
  expect(await folder.owner()).toBeUndefined();

  const ownership = await folder.claim({ onLost });
  expect(await folder.claim({ onLost })).toBeUndefined();
  expect(await folder.owner()).toEqual(self);
  await ownership?.publish("http://127.0.0.1:3000");
  expect(await folder.owner()).toEqual({ pid: process.pid, address: "http://127.0.0.1:3000" });

  const ended = folder.waitForOwnerEnd(new AbortController().signal);
  await ownership?.release();
  await ended;
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

test.runIf(process.platform === "linux")(
  "a pid that is used again is not mistaken for the owner",
  async () => {
    const folder = await openDataFolder(dir);
    await folder.claim({ onLost });
    expect(await folder.owner()).toEqual(self);
    await rewriteOwner(1, { started: "1", nonce: "an earlier run" });
    expect(await folder.owner()).toBeUndefined();
    await folder.claim({ onLost });
    expect(await folder.owner()).toEqual(self);
  },
);

test("an owner on another host lives by its heartbeat", async () => {
  const folder = await openDataFolder(dir);
  await folder.claim({ onLost });
  await rewriteOwner(1, { place: `not ${hostname()}`, nonce: "another host's" });
  expect(await folder.claim({ onLost })).toBeUndefined();

  const before = new Date(Date.now() - 16_000);
  await fs.utimes(join(dir, "owner.1"), before, before);
  await folder.claim({ onLost });
  expect(await folder.owner()).toEqual(self);
});

test("a file that a power loss has emptied counts as an owner until it is old", async () => {
  const folder = await openDataFolder(dir);
  await fs.writeFile(join(dir, "owner.7"), "");
  expect(await folder.claim({ onLost })).toBeUndefined();

  const before = new Date(Date.now() - 16_000);
  await fs.utimes(join(dir, "owner.7"), before, before);
  await folder.claim({ onLost });
  expect(await folder.owner()).toEqual(self);
  expect(await fs.readdir(dir)).toEqual(["owner.8"]);
});

test("an owner that was overtaken is told, and leaves the new owner alone", async () => {
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

test("processes that ask at once agree on one credential, which only its user may read", async () => {
  const contenders = await Promise.all(Array.from({ length: 6 }, contender));
  const keys = await Promise.all(contenders.map((child) => tell(child, "credential")));
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^sk_live_[\w-]{43}$/);

  const mode = async (name: string) => (await fs.stat(join(dir, name))).mode & 0o777;
  expect(await fs.readdir(dir)).toEqual(["credential"]);
  expect(await mode("credential")).toBe(0o600);
  expect(await mode(".")).toBe(0o700);
}, 30_000);

test("a credential that is not a key is refused, with what to do", async () => {
  const folder = await openDataFolder(dir);
  await fs.writeFile(join(dir, "credential"), "");
  await expect(folder.credential()).rejects.toThrow(/credential does not hold a key\. Remove it/);
});

test("a folder that can't be written to is refused in one sentence", async () => {
  await fs.writeFile(dir, "a file");
  await expect(openDataFolder(dir)).rejects.toThrow(
    `The data folder ${dir} can't be used (EEXIST): choose one`,
  );
});
