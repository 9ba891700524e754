/** Checks that a server has the key of the data folder, before the key is sent to it (see key-proof.ts). */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { collectBytes } from "../../streams/bytes.ts";
import { toAddress } from "../address.ts";
import type { DataFolder } from "./data-folder.ts";
import { proofPath, signNonce } from "./key-proof.ts";

/**
 * Returns the address of a server that has proved itself; undefined if the server can't be reached or does
 * not prove itself.
 */
export type Verifier = (address: string) => Promise<string | undefined>;

/** Prints one line on stderr if a program does not prove itself. */
export function createVerifier({
  path,
  storedCredential,
}: Pick<DataFolder, "path" | "storedCredential">): Verifier {
  const proven = new Map<string, string>();
  let reported: string | undefined;

  return async (address) => {
    const known = proven.get(address);
    if (known !== undefined) {
      return known;
    }
    // Without a stored key a random one is used, which no server can prove to have.
    const key = (await storedCredential()) ?? randomBytes(32).toString("base64url");
    const outcome = await challenge(address, key);
    if (outcome === "unproven" && reported !== address) {
      reported = address;
      console.error(describeUnproven(address, path));
    }
    if (typeof outcome === "string") {
      return undefined;
    }
    const { connectedTo, socket } = outcome;
    if (!socket.destroyed) {
      proven.set(address, connectedTo);
      socket.once("close", () => proven.delete(address));
    }
    reported = undefined;
    return connectedTo;
  };
}

type Outcome = "unreachable" | "unproven" | { readonly connectedTo: string; readonly socket: Socket };

/** How long a proof may take. It takes milliseconds unless the machine is very busy. */
const timeoutMs = 5_000;
/** More than any proof or error of this service. */
const maxBytes = 4_096;

async function challenge(address: string, key: string): Promise<Outcome> {
  const nonce = randomBytes(32).toString("base64url");
  // A separate connection, which stays open without keeping this process alive.
  const agent = new Agent({ keepAlive: true });
  let outcome: Outcome = "unproven";
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const request = get(address, { path: `${proofPath}?nonce=${nonce}`, agent, signal });
    const [response] = (await once(request, "response")) as [IncomingMessage]; // as Node documents
    const { socket, statusCode } = response;
    // The address of the connection and not of the request, because a name may resolve to several servers.
    const connectedTo = toAddress(socket.remoteAddress ?? "", socket.remotePort ?? 0);
    const proof = (await collectBytes(response, maxBytes)).bytes.toString();
    if (statusCode === 503) {
      outcome = "unreachable";
    } else if (statusCode === 200 && isEqual(proof, signNonce({ key, nonce, address: connectedTo }))) {
      outcome = { connectedTo, socket };
    }
  } catch (error) {
    outcome = isConnectionError(error) ? "unreachable" : "unproven";
  }
  if (typeof outcome === "string") {
    agent.destroy();
  }
  return outcome;
}

/** Whether the server at this address has the key; false without a key. Prints nothing. */
export async function provesItself(address: string, key: string | undefined): Promise<boolean> {
  if (key === undefined) {
    return false;
  }
  const outcome = await challenge(address, key);
  if (typeof outcome === "string") {
    return false;
  }
  outcome.socket.destroy();
  return true;
}

/** Whether the server at this address says that it is a Tidings service, of any data folder. */
export async function isTidings(address: string): Promise<boolean> {
  const options = { signal: AbortSignal.timeout(timeoutMs), redirect: "manual" } as const;
  const answer = await fetch(`${address}/healthz`, options).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === 200 && answer.headers.get("x-request-id")?.startsWith("req_") === true;
}

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * Whether there was no connection, or it broke. A server that does not speak HTTP or does not answer does not
 * count.
 */
function isConnectionError(error: unknown): boolean {
  return error instanceof Error && ("syscall" in error || ("code" in error && error.code === "ECONNRESET"));
}

function describeUnproven(address: string, path: string): string {
  return [
    `tidings: The program at ${address} did not prove that it serves the data folder ${path},`,
    "so the folder's key is not sent to it. If it is another Tidings service, set TIDINGS_DATA_DIR to its folder",
    "or PORT to the port of this folder's service; restart it if it is an older version of this folder's.",
    "For a service elsewhere set TIDINGS_BASE_URL and TIDINGS_API_KEY.",
  ].join(" ");
}
