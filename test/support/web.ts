/** The guarded web with rules for tests. */
import { afterEach, beforeEach } from "vitest";
import { readSubnet } from "../../src/adapters/web/addresses.ts";
import { createWeb, type WebOptions } from "../../src/adapters/web/index.ts";
import { createWebRules } from "../../src/adapters/web/rules.ts";
import type { SendRequest, WebRequest } from "../../src/ports/web.ts";
import { type ConnectionAttempts, recordConnectionAttempts } from "./connection-attempts.ts";

export const production = createWebRules({ allow: [], isLocalAllowed: false });
export const development = createWebRules({ allow: [], isLocalAllowed: true });
/** Restricts only addresses. */
export const anySchemeAndPort = { ...production, schemes: ["http:", "https:"], ports: "any" as const };
/** Treats 127.0.0.1 as public and all other local addresses as private. */
export const loopbackIsPublic = { ...anySchemeAndPort, allowed: [readSubnet("127.0.0.1")] };

const resolveNothing = async () => {
  throw new Error("no name must be resolved");
};

export const requestDefaults = { method: "GET", timeoutMs: 5_000, maxBytes: 1_000 } as const;

/** Opens the guarded web; by default 127.0.0.1 counts as public and no name resolves. */
export function openWeb(options: Partial<WebOptions> = {}) {
  const web = createWeb({ rules: loopbackIsPublic, resolve: resolveNothing, ...options });
  const send = (url: string, options: Partial<SendRequest> = {}) =>
    web.send({ ...requestDefaults, tooLarge: "cut", url, ...options });
  return {
    check: web.check,
    send,
    /** Resolves with the whole body as text. */
    download: (url: string, options: Partial<WebRequest> = {}) =>
      web.download({ ...requestDefaults, url, ...options }, async ({ body }) => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of body) {
          chunks.push(chunk);
        }
        return Buffer.concat(chunks).toString();
      }),
    web,
    [Symbol.asyncDispose]: () => web[Symbol.asyncDispose](),
  };
}

/** The body of a response as text; empty without one. */
export const textOf = (answer: object) =>
  "body" in answer ? Buffer.from(answer.body as Uint8Array).toString() : "";

/** Records the connection attempts of each test of a file. */
export function useConnectionAttempts(): { readonly addresses: readonly string[] } {
  let attempts: ConnectionAttempts;
  beforeEach(() => {
    attempts = recordConnectionAttempts();
  });
  afterEach(() => attempts[Symbol.dispose]());
  return {
    get addresses() {
      return attempts.addresses;
    },
  };
}
