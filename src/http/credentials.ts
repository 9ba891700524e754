/** Authenticates requests before their bodies are read: only a small body is parsed without a credential. */
import type { FastifyRequest } from "fastify";
import { readCredential } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import type { Platform } from "../platform/index.ts";

/** The longest e-mail address and two of the longest passwords have about 2,500 characters. */
export const maxPublicBodyBytes = 8_192;

type Caller = Awaited<ReturnType<Platform["authenticate"]>>;

const callers = new WeakMap<FastifyRequest, Caller>();

/**
 * The options of a route that requires a credential.
 * @throws Failure `credential_missing` or `credential_invalid`, when a request arrives.
 */
export function requireCredential(platform: Platform, bodyLimit: number) {
  return {
    bodyLimit,
    async onRequest(request: FastifyRequest): Promise<void> {
      const credential = readCredential(request.headers);
      if (credential === undefined) {
        throw fail("credential_missing");
      }
      callers.set(request, await platform.authenticate(credential));
    },
  };
}

/** The caller of a request to such a route; null on the others. */
export function callerOf(request: FastifyRequest): Caller | null {
  return callers.get(request) ?? null;
}
