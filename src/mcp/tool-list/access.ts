/**
 * Finds out what a key may do and which tools its service has.
 *
 * Tidings returns the scopes (`whoami`), and its list of tools shows which tools it has. Another service
 * has no such route but lists the tools of a credential: a known tool in that list proves its own scope
 * and no other scope. If neither works, every tool is listed, the service decides at each call, and
 * a warning is logged.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { auth } from "../../../tools/auth.ts";
import { allScopes, permits, readScope, type Scope } from "../../../tools/contract/index.ts";
import type { mcp } from "../../../tools/mcp.ts";
import { permitsOperation } from "../../../tools/rule-operations.ts";
import { CallFailure, type Client } from "../../client/index.ts";
import type { Log } from "../../ports/telemetry/log.ts";
import { toolListRoute, tools, whoamiRoute } from "./definitions.ts";

export interface KeyAccess {
  readonly scopes: ReadonlySet<Scope>;
  /** The tools that the service has and that rules allow, by name; by default the whole catalogue. */
  readonly availableTools?: ReadonlySet<string> | undefined;
}

const discoveryTimeoutMs = 10_000;
/** How long known scopes wait for the list of tools, from when both were requested. */
const toolListTimeoutMs = 1_000;

export async function discoverAccess(client: Client, log: Log): Promise<KeyAccess | undefined> {
  try {
    return await discover(client);
  } catch (error) {
    log.warn(
      { err: error },
      "the key's scopes are unknown: every tool is listed, and the service decides at each call",
    );
    return undefined;
  }
}

async function discover(client: Client): Promise<KeyAccess> {
  // Method and path are all that the client needs; the full declaration is slow to load.
  const list = toolListRoute as typeof mcp.list_mcp_tools;
  const listing = client.call(list, {}, { timeoutMs: discoveryTimeoutMs }).then(({ data }) => toNames(data));
  // Requested in parallel to whoami; its error counts only where it is awaited.
  listing.catch(() => undefined);
  const late = sleep(toolListTimeoutMs, undefined, { ref: false });
  try {
    const { data } = await client.call(
      whoamiRoute as typeof auth.whoami,
      {},
      { timeoutMs: discoveryTimeoutMs },
    );
    const scopes = new Set(data.scopes.flatMap((scope) => readScope(scope) ?? []));
    const available = await readKnownTools(Promise.race([listing, late]));
    // An earlier version of the service has no such rules.
    return { scopes, availableTools: withinRules(available, data.allowed_operations ?? null) };
  } catch (error) {
    if (!isRouteMissing(error)) {
      throw error;
    }
    return { scopes: inferScopes(await listing) };
  }
}

/** The listed tools that the catalogue has; undefined if there are none, or the list is not available. */
async function readKnownTools(
  listing: Promise<ReadonlySet<string> | undefined>,
): Promise<ReadonlySet<string> | undefined> {
  const names = await listing.catch(() => undefined);
  const known = tools.flatMap(({ name }) => (names?.has(name) ? [name] : []));
  return known.length === 0 ? undefined : new Set(known);
}

/** The list of tools may be missing, and these operations then limit the whole catalogue. */
function withinRules(
  available: ReadonlySet<string> | undefined,
  allowed: readonly string[] | null,
): ReadonlySet<string> | undefined {
  const reachable = tools.filter(({ name }) => available?.has(name) ?? true);
  return allowed === null
    ? available
    : new Set(reachable.flatMap(({ name, operation }) => (permitsOperation(allowed, operation) ? name : [])));
}

/** Whether the route may be missing: gateways report that in many ways. */
function isRouteMissing(error: unknown): boolean {
  return error instanceof CallFailure
    ? error.status !== 401 && error.status !== 429 && (error.status < 500 || error.status === 501)
    : error instanceof TypeError; // a response of another shape
}

function toNames(data: readonly { readonly name: string }[]): ReadonlySet<string> {
  return new Set(data.map(({ name }) => name));
}

function inferScopes(names: ReadonlySet<string>): ReadonlySet<Scope> {
  const listed = tools.filter(({ name }) => names.has(name));
  if (listed.length === 0) {
    throw new Error("the service lists no known tool");
  }
  const without = (scope: Scope) => new Set(allScopes.filter((other) => other !== scope));
  const proved = allScopes.filter((scope) => listed.some((tool) => !permits(without(scope), tool.scope)));
  // A tool that needs one of several scopes proves none of them: assume all, rather than too few.
  const unexplained = listed.filter((tool) => !permits(new Set(proved), tool.scope));
  const possible = allScopes.filter((scope) =>
    unexplained.some((tool) => permits(new Set([scope]), tool.scope)),
  );
  return new Set([...proved, ...possible]);
}
