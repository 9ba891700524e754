/** The ways to a service: directly on this machine, by the environment's proxy to any other. */
import type { Dispatcher } from "undici";

/** Answers are read whole; none of ours comes near this. */
const answerLimit = 20_000_000;

export interface Connections {
  to(base: URL): Promise<Dispatcher>;
  close(): Promise<void>;
}

/** Made when first used, and kept alive between calls. */
export function createConnections(): Connections {
  let made: Promise<Ways> | undefined;
  return {
    async to({ hostname }) {
      made ??= make();
      const { direct, outward } = await made;
      return isLoopback(hostname) ? direct : outward;
    },
    async close() {
      const ways = await made;
      await Promise.all([ways?.direct.destroy(), ways?.outward.destroy()]);
    },
  };
}

interface Ways {
  readonly direct: Dispatcher;
  readonly outward: Dispatcher;
}

async function make(): Promise<Ways> {
  // Loaded at the first call: it takes longer to load than all else here. By its default export, because
  // a bundler knows no others of a CommonJS module that is imported on demand.
  const { Agent, EnvHttpProxyAgent } = (await import("undici")).default;
  // The call's deadline ends it; undici's own timers would only cost.
  const options = {
    maxResponseSize: answerLimit,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 5_000 },
  };
  return { direct: new Agent(options), outward: new EnvHttpProxyAgent(options) };
}

/** No proxy leads back to this machine, whatever NO_PROXY says. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
