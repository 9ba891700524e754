/**
 * The web as undici reaches it, guarded: the one way to addresses that customers gave.
 *
 * An address is judged twice: as it is written, which needs no one, and when it is connected to, where it
 * counts (`connect.ts`). Redirects are answers like any other. One exchange has one deadline.
 */
import { setMaxListeners } from "node:events";
import type { Agent } from "undici";
import type { Download, Incoming, SendRequest, Web, WebAnswer, WebRequest } from "../../ports/web.ts";
import { admit, collect, upTo } from "./body.ts";
import { openAgent } from "./connect.ts";
import { exchange, type Opened } from "./exchange.ts";
import { TooLarge } from "./failures.ts";
import { resolve as askNameServers, type Resolve } from "./resolve.ts";
import { judge, type Rules } from "./rules.ts";

export interface WebOptions {
  readonly rules: Rules;
  readonly resolve?: Resolve;
  /** Certificates to trust in place of the usual ones. */
  readonly ca?: string;
}

export function createWeb({ rules, resolve = askNameServers, ca }: WebOptions): Web & AsyncDisposable {
  const stop = new AbortController();
  const stopping = stop.signal;
  // As many listen as there are exchanges and connections.
  setMaxListeners(0, stopping);
  let made: Promise<Agent> | undefined;
  const open = () => {
    made ??= openAgent({ rules, resolve, ca, stopping });
    return made;
  };
  const parts = { rules, stopping, open };
  return {
    check(url) {
      const judged = judge(url, rules);
      return judged instanceof URL ? undefined : judged;
    },
    send: (request) => exchange({ ...parts, request, read: (opened) => readWhole(request, opened) }),
    download: (request, take) =>
      exchange({ ...parts, request, read: (opened) => handOver(request, opened, take) }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      const agent = await made;
      await agent?.destroy();
    },
  };
}

async function readWhole({ maxBytes, tooLarge }: SendRequest, opened: Opened): Promise<WebAnswer> {
  try {
    const collected = await collect(opened.body, maxBytes);
    if (collected.isCut && tooLarge === "refuse") {
      throw new TooLarge();
    }
    return { outcome: "answered", ...opened.head, ...collected, ms: opened.elapsedMs() };
  } catch (error) {
    return opened.explain(error);
  }
}

async function handOver<Value>(
  { maxBytes }: WebRequest,
  opened: Opened,
  take: (answer: Incoming) => Promise<Value>,
): Promise<Download<Value>> {
  const { head } = opened;
  let broken: ReturnType<Opened["explain"]> | undefined;
  const watched = async function* () {
    try {
      admit(head.headers, maxBytes);
      yield* upTo(opened.body, maxBytes);
    } catch (error) {
      broken = opened.explain(error);
      throw error;
    }
  };
  try {
    const value = await take({ ...head, body: watched() });
    return broken ?? { outcome: "answered", status: head.status, value, ms: opened.elapsedMs() };
  } catch (error) {
    if (broken) {
      return broken;
    }
    throw error;
  }
}

export { rulesOf } from "./rules.ts";
