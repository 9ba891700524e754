/** The callers of the MCP requests that are running, so that the requests for their messages need no second look-up. */
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { readCredential } from "../../../tools/contract/index.ts";
import type { Platform } from "../../platform/index.ts";

export type Caller = Awaited<ReturnType<Platform["authenticate"]>>;

const header = "x-tidings-caller";

export interface KnownCallers {
  /** Remembers the caller of an MCP request until `forget` is called. `headers` are those of the requests for its messages. */
  remember(
    credential: string,
    caller: Caller,
  ): { readonly headers: Readonly<Record<string, string>>; forget(): void };
  /** The caller of a request with these headers, if its MCP request is running and had the same credential. */
  find(headers: IncomingHttpHeaders): Caller | undefined;
}

export function createKnownCallers(): KnownCallers {
  const known = new Map<string, { readonly credential: string; readonly caller: Caller }>();
  return {
    remember(credential, caller) {
      const id = randomUUID(); // a secret of the process, so no client can send it
      known.set(id, { credential, caller });
      return { headers: { [header]: id }, forget: () => known.delete(id) };
    },
    find(headers) {
      const found = known.get(String(headers[header]));
      return found?.credential === readCredential(headers) ? found?.caller : undefined;
    },
  };
}
