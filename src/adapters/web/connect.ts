/**
 * Opens connections to permitted addresses alone.
 *
 * The guard stands where the socket gets its address: a name is looked up once, its addresses are judged,
 * and those same addresses are what the socket tries, so an answer that changes afterwards changes nothing.
 * A socket looks nothing up for a host that is an address already; that one is judged before. Both hold for
 * every connection, however many requests it serves.
 *
 * The environment's proxy is not used: it would do the look-up, out of this guard's sight.
 */
import { isIP, type LookupFunction } from "node:net";
import type { Agent, buildConnector } from "undici";
import { isReachable } from "./addresses.ts";
import type { ResolveHost } from "./resolve.ts";
import { literalAddressesOf, type WebRules } from "./rules.ts";

/** The host leads to no permitted address; nothing was connected. */
export class ForbiddenAddressError extends Error {
  override readonly name = "Barred";
}

/** The host has no address, or none could be learned. */
export class UnresolvedHostError extends Error {
  override readonly name = "Unresolved";
}

export interface ConnectOptions {
  readonly rules: WebRules;
  readonly resolve: ResolveHost;
  /** Certificates to trust in place of the usual ones. */
  readonly ca?: string | undefined;
  /** Ends every connection, also one that is still being made. */
  readonly stopping: AbortSignal;
}

/**
 * Connections to one scheme, host and port. Past them a request waits its turn, within its own time; other
 * hosts don't. So many because one host may receive for many customers, so few because it is one host.
 */
const connectionsPerOrigin = 32;

/**
 * How long an idle connection is kept, unless the host says how long it keeps them. Those that say nothing and
 * close after two seconds are common (gunicorn), and a request that meets the close has failed. Whoever is
 * told more often than once a second loses nothing by this; others can spare the time for a new one.
 */
const idleMs = 1_000;

export async function openAgent(options: ConnectOptions): Promise<Agent> {
  const { rules, resolve, ca, stopping } = options;
  // Loaded at the first request, like the client's: it takes long to load. By its default export, because a
  // bundler knows no others of a CommonJS module that is imported on demand.
  const undici = (await import("undici")).default;
  const connectTo = undici.buildConnector({
    lookup: guardedLookup(rules, resolve),
    signal: stopping,
    timeout: 10_000,
    // Tries a host's addresses one after the other. A second each: the default of 250 ms gives up on
    // receivers on the other side of the world.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1_000,
    ...(ca === undefined ? {} : { ca }),
  });
  return new undici.Agent({
    connect: guardedConnector(rules, connectTo),
    connections: connectionsPerOrigin,
    keepAliveTimeout: idleMs,
    // The exchange's own deadline ends it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function guardedConnector(rules: WebRules, connectTo: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    const { hostname } = options;
    if (isIP(hostname) !== 0 && !isReachable(hostname, rules.allowed)) {
      // Later, as from a socket: the pool does not expect an answer while it is still asking.
      queueMicrotask(() => callback(new ForbiddenAddressError(hostname), null));
      return;
    }
    connectTo(options, callback);
  };
}

function guardedLookup(rules: WebRules, resolve: ResolveHost): LookupFunction {
  return (hostname, _, callback) => {
    resolvePermitted(hostname, rules, resolve).then(
      (addresses) => callback(null, addresses),
      (error) => callback(error, []),
    );
  };
}

/** Addresses that are not permitted are left out: networks with NAT64 add such to every name. */
async function resolvePermitted(hostname: string, rules: WebRules, resolve: ResolveHost) {
  const found = literalAddressesOf(hostname) ?? (await resolveOrThrow(hostname, resolve));
  if (found.length === 0) {
    throw new UnresolvedHostError(hostname);
  }
  const permitted = found.filter((address) => isReachable(address, rules.allowed));
  if (permitted.length === 0) {
    throw new ForbiddenAddressError(hostname);
  }
  return permitted.map((address) => ({ address, family: isIP(address) }));
}

function resolveOrThrow(hostname: string, resolve: ResolveHost): Promise<readonly string[]> {
  return resolve(hostname).catch((cause: unknown) => {
    throw new UnresolvedHostError(hostname, { cause });
  });
}
