/** The callers of the MCP requests that are running, so that the requests for their messages need no second look-up. */
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { readCredential } from "../../../tools/contract/index.ts";
import type { Platform } from "../../platform/index.ts";

export type Caller = Awaited<ReturnType<Platform["authenticate"]>>;

const header = "x-tidings-caller";

export interface KnownCaller {
  readonly caller: Caller;
  /** The client's, from which the MCP request came. */
  readonly address: string;
}

export interface KnownCallers {
  /** Remembers the caller of an MCP request until `forget` is called. `headers` are those of the requests for its messages. */
  remember(known: KnownCaller & { readonly credential: string }): {
    readonly headers: Readonly<Record<string, string>>;
    forget(): void;
  };
  /** The caller of a request with these headers, if its MCP request is running and had the same credential. */
  find(headers: IncomingHttpHeaders): KnownCaller | undefined;
}

export function createKnownCallers(): KnownCallers {
  const running = new Map<string, KnownCaller & { readonly credential: string }>();
  return {
    remember(known) {
      const id = randomUUID(); // a secret of the process, so no client can send it
      running.set(id, known);
      return { headers: { [header]: id }, forget: () => running.delete(id) };
    },
    find(headers) {
      const found = running.get(String(headers[header]));
      return found?.credential === readCredential(headers) ? found : undefined;
    },
  };
}
