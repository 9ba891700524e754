/** The hook that admits every request before its body is read, and sets the caller. */
import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Credential, readCredential } from "../../../tools/contract/index.ts";
import { failCredential } from "../../../tools/errors.ts";
import type { Platform } from "../../platform/index.ts";
import type { Admission, Exchange } from "./admission.ts";
import type { Caller } from "./known-callers.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The credential that a route requires; by default none. */
    readonly credential?: Credential;
    /** Default: true. */
    readonly isRateLimited?: boolean;
  }
  interface FastifyRequest {
    /** Null on a route that requires no credential, or the operator's key. */
    caller: Caller | null;
    /** The client's. In a request that this process sends for an MCP message, that of the MCP client. */
    clientAddress: string;
    /** Whether the route requires the operator's key, and the request has it. */
    isOperator: boolean;
  }
}

/**
 * The header of the requests that this process sends to itself for MCP messages: the messages are counted already.
 * Its value is a secret of the process, so no client can send it.
 */
export type CountedHeader = { readonly "x-tidings-counted": string };

export function createCountedHeader(): CountedHeader {
  return { "x-tidings-counted": randomUUID() };
}

export interface AdmitOptions {
  readonly admission: Admission;
  readonly platform: Pick<Platform, "authenticate">;
  readonly countedHeader: CountedHeader;
}

export function admitRequests(app: FastifyInstance, options: AdmitOptions): void {
  const { admission, platform, countedHeader } = options;
  app.decorateRequest("caller", null);
  app.decorateRequest("clientAddress", "");
  app.decorateRequest("isOperator", false);
  app.addHook("onRequest", async (request, reply) => {
    const { isRateLimited = true, credential = "none" } = request.routeOptions.config;
    const isCounted = request.headers["x-tidings-counted"] === countedHeader["x-tidings-counted"];
    const mustCount = isRateLimited && !isCounted;
    const known = admission.findCaller(request.headers);
    request.clientAddress = known?.address ?? request.ip;
    if (credential === "operator") {
      admission.identifyOperator(toExchange(request, reply));
      request.isOperator = true;
    } else if (credential !== "none") {
      request.caller = mustCount
        ? await admission.identify(toExchange(request, reply))
        : (known?.caller ?? (await authenticate(platform, request)));
    } else if (mustCount) {
      admission.countAnonymous(toExchange(request, reply));
    }
  });
}

function toExchange({ headers, ip }: FastifyRequest, reply: FastifyReply): Exchange {
  return { headers, address: ip, setHeader: (name, value) => reply.header(name, value) };
}

/** @throws Failure `credential_missing`, `credential_malformed` or `credential_invalid`. */
async function authenticate(platform: AdmitOptions["platform"], { headers }: FastifyRequest) {
  const credential = readCredential(headers);
  if (credential === undefined) {
    throw failCredential(headers);
  }
  return platform.authenticate(credential);
}
