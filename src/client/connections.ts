/** Connection pools: direct for loopback addresses or on request, else through the environment's proxy. */
import type { Dispatcher } from "undici";

/** Responses are read whole. Responses of Tidings are far smaller. */
const maxResponseBytes = 20_000_000;

export interface Connections {
  dispatcherFor(base: URL): Promise<Dispatcher>;
  close(): Promise<void>;
}

/** Opened on first use and kept alive between calls. */
export function createConnections(isDirect = false): Connections {
  let dispatchers: Promise<Dispatchers> | undefined;
  return {
    async dispatcherFor({ hostname }) {
      dispatchers ??= createDispatchers();
      const { direct, proxied } = await dispatchers;
      return isDirect || isLoopback(hostname) ? direct : proxied;
    },
    async close() {
      const created = await dispatchers;
      await Promise.all([created?.direct.destroy(), created?.proxied.destroy()]);
    },
  };
}

interface Dispatchers {
  readonly direct: Dispatcher;
  readonly proxied: Dispatcher;
}

async function createDispatchers(): Promise<Dispatchers> {
  // Imported at the first call because it loads slowly. Uses the default export, because a bundler finds no
  // named exports of a CommonJS module that is imported dynamically.
  const { Agent, EnvHttpProxyAgent } = (await import("undici")).default;
  // The deadline of the call applies, so undici's own timeouts are off.
  const options = {
    maxResponseSize: maxResponseBytes,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 5_000 },
  };
  return { direct: new Agent(options), proxied: new EnvHttpProxyAgent(options) };
}

/** Loopback never goes through a proxy, whatever NO_PROXY says. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
