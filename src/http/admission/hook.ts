/** The hook that admits every request before its body is read, and sets the caller. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Credential } from "../../../tools/contract/index.ts";
import type { Admission, AdmittedCaller, Exchange } from "./admission.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The credential that a route requires. Default: none. */
    readonly credential?: Credential;
    /** Whether requests without a credential are counted. Default: true. */
    readonly isRateLimited?: boolean;
  }
  interface FastifyRequest {
    /** Null on a route that requires the operator's key, or no credential. */
    caller: AdmittedCaller | null;
    /** Whether the route requires the operator's key, and the request has it. */
    isOperator: boolean;
  }
}

/** The sender of a request. */
export interface RequestActor {
  /** Null without a credential, and for the operator. */
  readonly caller: AdmittedCaller | null;
  readonly isOperator: boolean;
  /** The IP address of the client. */
  readonly address: string;
}

export function admitRequests(app: FastifyInstance, admission: Admission): void {
  app.decorateRequest("caller", null);
  app.decorateRequest("isOperator", false);
  app.addHook("onRequest", async (request, reply) => {
    const { isRateLimited = true, credential = "none" } = request.routeOptions.config;
    if (credential === "operator") {
      admission.identifyOperator(toExchange(request, reply));
      request.isOperator = true;
    } else if (credential !== "none") {
      request.caller = await admission.identify(toExchange(request, reply));
    } else if (isRateLimited) {
      admission.countAnonymous(toExchange(request, reply));
    }
  });
}

export function toActor({ caller, isOperator, ip }: FastifyRequest): RequestActor {
  return { caller, isOperator, address: ip };
}

export function toExchange({ headers, ip }: FastifyRequest, reply: FastifyReply): Exchange {
  return { headers, address: ip, setHeader: (name, value) => reply.header(name, value) };
}
