/**
 * Proves that a server has the key of the data folder, before the key is sent to the server.
 *
 * An address may be out of date: after a crash another program, even another user's, can listen there. So a
 * process first sends a random nonce. The server answers with an HMAC, made with the folder's key, of the
 * nonce and the address at which the server itself listens. The process compares the HMAC with the expected
 * one for the address to which it is connected. A program that passes the nonce on to the folder's real
 * server gets an HMAC for another address.
 *
 * A proof is valid while the connection on which it was sent is open, which ends with the server's process. A
 * proof costs one request for each server, and another one when the server closes the idle connection.
 *
 * Remaining risks: a program that receives connections to the real server's own address, and reaches that
 * server in another way, can pass a proof on. Such a program must be in another network (a container, a
 * forwarded port), or run on a system where a port in use can be bound again. And a program that gets the
 * port of a server that ends may receive what this process sends before it notices the end, a matter of
 * milliseconds.
 */
import { createHmac } from "node:crypto";
import { fail } from "../../../tools/errors.ts";
import type { HttpRoute } from "../../ports/transport/http-route.ts";

export const proofPath = "/data-folder/proof";

/**
 * The route that answers with a proof. A process without the key of a data folder has no such route.
 *
 * @param address returns where this process listens; empty before it listens.
 */
export function createProofRoutes(key: string | undefined, address: () => string): readonly HttpRoute[] {
  if (key === undefined) {
    return [];
  }
  const route: HttpRoute = {
    methods: ["GET"],
    path: proofPath,
    credential: "none",
    body: "none",
    // Not limited, because other programs on this machine have the same address and could use up its limit.
    isRateLimited: false,
    async handle({ query: { nonce } }) {
      if (typeof nonce !== "string" || !/^[\w-]{43}$/.test(nonce)) {
        return { invalid: { field: "nonce", message: "must be 32 bytes in base64url" } };
      }
      if (address() === "") {
        throw fail("unavailable", { reason: "it is starting." });
      }
      const body = signNonce({ key, nonce, address: address() });
      return { status: 200, headers: { "cache-control": "no-store" }, body };
    },
  };
  return [route];
}

interface Proof {
  readonly key: string;
  readonly nonce: string;
  /** `http://host:port` of the server that signs, with its IP address. */
  readonly address: string;
}

/** The text before the nonce separates this use of the key from other uses. */
export function signNonce({ key, nonce, address }: Proof): string {
  return createHmac("sha256", key).update(`tidings data folder\n${nonce}\n${address}`).digest("base64url");
}
