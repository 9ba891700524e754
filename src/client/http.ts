/** The HTTP transport of the client: sends each request to the address of a service. */
import { parseJson } from "../../tools/contract/index.ts";
import type { OperationRequest, OperationResponse } from "../ports/transport/operation-request.ts";
import type { Deadline } from "../time/deadline.ts";
import { createConnections } from "./connections.ts";
import { NoResponseError } from "./failure.ts";
import { writeRequest } from "./request.ts";

/** Passes requests to a service. */
export interface Transport {
  /** Sends a request once. @throws Error when there is no response. */
  send(request: OperationRequest, attempt: TransportAttempt): Promise<OperationResponse>;
  /** Closes the connections, if it has any. */
  close?(): Promise<void>;
}

export interface TransportAttempt {
  /** The credential of this call. If undefined, the transport uses its own. */
  readonly key: string | undefined;
  readonly deadline: Deadline;
}

export interface HttpOptions {
  /** The address of the service, or a function that finds the address and is called at every attempt. */
  readonly baseUrl: string | (() => Promise<string>);
  /** An API key or access token, or a function that finds it. A call may override it. */
  readonly key?: string | (() => Promise<string | undefined>);
  readonly userAgent?: string;
  /** Whether to bypass the environment's proxy, because the service is on this machine. */
  readonly isDirect?: boolean;
}

export function createHttpTransport({ baseUrl, key, userAgent, isDirect }: HttpOptions): Transport {
  const connections = createConnections(isDirect);
  return {
    async send(operationRequest, { key: ownKey = key, deadline }) {
      const request = writeRequest(operationRequest);
      let host = "the service";
      try {
        const base = new URL(typeof baseUrl === "string" ? baseUrl : await deadline.within(baseUrl()));
        host = base.host;
        const credential = typeof ownKey === "function" ? await deadline.within(ownKey()) : ownKey;
        const connection = await connections.dispatcherFor(base);
        const { statusCode, headers, body } = await connection.request({
          origin: base.origin,
          // Not resolved against the base, which would drop dot segments.
          path: base.pathname.replace(/\/+$/, "") + request.path,
          method: request.method,
          headers: { ...request.headers, ...credentialHeaders(credential, userAgent) },
          body: typeof request.body === "function" ? request.body() : request.body,
          signal: deadline.signal,
        });
        return { status: statusCode, headers, body: parseJson(await body.text()) };
      } catch (error) {
        throw NoResponseError.from(error, { host, deadline });
      }
    },
    close: connections.close,
  };
}

function credentialHeaders(key: string | undefined, userAgent = "tidings"): Record<string, string> {
  const credential = key?.trim();
  if (!credential) {
    return { "user-agent": userAgent };
  }
  return credential.startsWith("sk_")
    ? { "user-agent": userAgent, "x-api-key": credential }
    : { "user-agent": userAgent, authorization: `Bearer ${credential}` };
}
