/** The ways to a service: directly on this machine, by the environment's proxy to any other. */
import type { Dispatcher } from "undici";

/** Answers are read whole; none of ours comes near this. */
const maxResponseBytes = 20_000_000;

export interface Connections {
  dispatcherFor(base: URL): Promise<Dispatcher>;
  close(): Promise<void>;
}

/** Made when first used, and kept alive between calls. */
export function createConnections(): Connections {
  let dispatchers: Promise<Dispatchers> | undefined;
  return {
    async dispatcherFor({ hostname }) {
      dispatchers ??= createDispatchers();
      const { direct, proxied } = await dispatchers;
      return isLoopback(hostname) ? direct : proxied;
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
  // Loaded at the first call: it takes longer to load than all else here. By its default export, because
  // a bundler knows no others of a CommonJS module that is imported on demand.
  const { Agent, EnvHttpProxyAgent } = (await import("undici")).default;
  // The call's deadline ends it; undici's own timers would only cost.
  const options = {
    maxResponseSize: maxResponseBytes,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 5_000 },
  };
  return { direct: new Agent(options), proxied: new EnvHttpProxyAgent(options) };
}

/** No proxy leads back to this machine, whatever NO_PROXY says. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
