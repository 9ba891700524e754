/**
 * An emulator of the WhatsApp Cloud API for developers: the Graph API, signed webhooks, and controls under
 * `/emulator` with which a test plays the customer and injects faults. Everything is in memory.
 *
 * It is a program of its own: it knows nothing of the platform, and only the command line loads it.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type Clock, createClock } from "./clock.ts";
import { createFaults } from "./faults.ts";
import { createHttpServer } from "./http/server.ts";
import { createThroughput } from "./sending/limits.ts";
import { LinkFetcher } from "./sending/links.ts";
import { type Defaults, defaults, resetStore } from "./state/setup.ts";
import { createStore } from "./state/store.ts";
import { ReviewSettings } from "./templates/review-settings.ts";
import { verifyCallback } from "./webhooks/handshake.ts";
import { createWebhooks } from "./webhooks/webhooks.ts";
import type { World } from "./world.ts";

export { createClock } from "./clock.ts";
export { defaults } from "./state/setup.ts";

export interface EmulatorOptions extends Partial<Defaults> {
  /** 0 takes a free one. */
  readonly port?: number;
  readonly host?: string;
  /** The address under which it is reached, where that differs from host and port. */
  readonly public_url?: string | undefined;
  /** Where webhooks go. It is verified before it is used. */
  readonly callback_url?: string | undefined;
  readonly clock?: Clock;
}

export interface Emulator extends AsyncDisposable {
  readonly url: string;
  readonly settings: Defaults;
  readonly clock: Clock;
  /** Resolves when no link is being fetched and no webhook is under way. */
  idle(): Promise<void>;
}

/** @throws when the port is taken or the callback address does not verify */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { port = 0, host = "127.0.0.1", public_url, callback_url, clock = createClock(), ...given } = options;
  const settings = { ...defaults, ...given };
  const store = createStore();
  const faults = createFaults();
  let url = "";
  const world: World = {
    clock,
    store,
    faults,
    settings,
    webhooks: createWebhooks(clock, store, faults),
    throughput: createThroughput(),
    links: new LinkFetcher(clock),
    review: ReviewSettings.parse({}),
    baseUrl: () => url,
  };
  resetStore(world, settings);
  if (callback_url !== undefined) {
    await verifyCallback(callback_url, settings.verify_token);
    setCallback(world, settings.app_id, callback_url);
  }
  const server = createHttpServer(world);
  server.listen(port, host);
  // Rejects on the event "error", for example when the port is taken.
  await once(server, "listening");
  const address = server.address() as AddressInfo; // it listens on a TCP port
  url = public_url ?? `http://${toHostname(host)}:${address.port}`;
  return {
    url,
    settings,
    clock,
    async idle() {
      // What was fetched is reported by webhooks.
      await world.links.idle();
      await world.webhooks.deliverer.idle();
    },
    async [Symbol.asyncDispose]() {
      clock.stop();
      server.closeAllConnections();
      server.close();
      await world.links.stop();
      await world.webhooks.deliverer.stop();
    },
  };
}

function setCallback({ store }: World, appId: string, url: string): void {
  const app = store.nodes.get(appId);
  if (app?.kind === "app") {
    app.callback_url = url;
  }
}

/** An address that stands for all of the machine's is no address to connect to. */
function toHostname(host: string): string {
  if (host === "0.0.0.0" || host === "::") {
    return "127.0.0.1";
  }
  return host.includes(":") ? `[${host}]` : host;
}
