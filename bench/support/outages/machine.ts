/** What a benchmark does to its machine as root, and undoes: a small disk, and a network of two hosts. */
import { execFile } from "node:child_process";
import { appendFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** A file system of this size at `path`, which can be filled. */
export async function createSmallDisk(path: string, megabytes: number) {
  await mkdir(path);
  await execute("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path]);
  const filler = join(path, "filler");
  return {
    async fill(): Promise<void> {
      for (const size of [1024 * 1024, 4096]) {
        while (await hasAppended(filler, size)) {
          // until nothing more fits
        }
      }
    },
    free: () => rm(filler),
    [Symbol.asyncDispose]: async () => {
      await execute("umount", [path]);
    },
  };
}

async function hasAppended(path: string, size: number): Promise<boolean> {
  try {
    await appendFile(path, Buffer.alloc(size));
    return true;
  } catch {
    return false;
  }
}

/** A network namespace that only a cable connects with this machine. */
export async function createNetwork() {
  const namespace = `tidings-${process.pid}`;
  const [here, there] = [`tid${process.pid}`, "cable"];
  const address = "10.203.0.2";
  const ip = (...args: string[]) => execute("ip", args);
  await ip("netns", "add", namespace);
  await ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", namespace);
  await ip("address", "add", "10.203.0.1/30", "dev", here);
  await ip("-n", namespace, "address", "add", `${address}/30`, "dev", there);
  await ip("-n", namespace, "link", "set", "lo", "up");
  await ip("link", "set", here, "up");
  await ip("-n", namespace, "link", "set", there, "up");
  return {
    namespace,
    /** Of the host in the namespace. */
    address,
    /** Drops every packet, in both directions. */
    async cut(): Promise<void> {
      await ip("-n", namespace, "link", "set", there, "down");
    },
    async mend(): Promise<void> {
      await ip("-n", namespace, "link", "set", there, "up");
    },
    [Symbol.asyncDispose]: async () => {
      await ip("netns", "delete", namespace);
    },
  };
}
