/** Checks of this machine: the version of Node, the disk, and the port. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import type { Config } from "../../config/index.ts";
import { toAddress } from "../address.ts";
import type { DataFolder } from "../data-folder/data-folder.ts";
import { isTidings, provesItself } from "../data-folder/verify-server.ts";
import { version } from "../version.ts";
import { about, type Finding } from "./finding.ts";

/** `engines` of package.json. */
const oldestNode = [20, 19] as const;

export function checkVersions(node: string = process.versions.node): Finding {
  const { ok, problem } = about("versions");
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  const isSupported = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  return isSupported
    ? ok(`Tidings ${version}, Node ${node}.`)
    : problem(`Node ${node} is too old.`, `Install Node ${oldestNode.join(".")} or later.`);
}

const megabyte = 1_000_000;
/** Below the first one writes may fail at any time; below the second one within days. */
const freeMegabytes = { problem: 200, warning: 2_000 };

export async function checkDisk(path: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(nearestFolder(path));
  return describeDisk(path, (bavail * bsize) / megabyte);
}

/** The folder, or while it is missing the nearest one above it, on whose disk it will be. */
function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

export function describeDisk(path: string, megabytes: number): Finding {
  const { ok, warning, problem } = about("disk");
  const message = `${Math.floor(megabytes).toLocaleString("en")} MB are free for ${path}.`;
  const fix = "Free space on this disk, or move the folder and set TIDINGS_DATA_DIR.";
  if (megabytes < freeMegabytes.problem) {
    return problem(message, fix);
  }
  return megabytes < freeMegabytes.warning ? warning(message, fix) : ok(message);
}

/** The port is free, or the service of this data folder answers there. */
export async function checkPort({ host, port }: Config, folder: DataFolder): Promise<Finding> {
  const { ok, problem } = about("port");
  const probe = createServer().listen({ host, port });
  try {
    await once(probe, "listening");
    return port === 0
      ? ok(`The service listens on any free port of ${host}, another one at each start.`)
      : ok(`Port ${port} of ${host} is free.`);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code !== "EADDRINUSE") {
      return problem(`Can't listen on ${host}:${port} (${code}).`, "Set HOST or PORT.");
    }
    const address = toAddress(host, port);
    if (await provesItself(address, await folder.storedCredential())) {
      return ok(`The service of ${folder.path} answers on port ${port} of ${host}.`);
    }
    return (await isTidings(address))
      ? problem(
          `A Tidings service of another data folder than ${folder.path} uses port ${port} of ${host}.`,
          "Set TIDINGS_DATA_DIR to the folder of that service, or PORT to another port.",
        )
      : problem(`Another program uses port ${port} of ${host}.`, "End it, or set PORT to another one.");
  } finally {
    probe.close();
  }
}
