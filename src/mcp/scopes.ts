/**
 * Learns what a key may do and what its service has, from the service itself.
 *
 * Ours says the scopes (`whoami`), and its list of tools what of the catalogue it has. Another one has no
 * such route, but lists the tools of a credential: a known tool in that list proves its scope, and says
 * nothing of the others. Where nothing can be learned, every tool is listed and each call decides, and the
 * log says so.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { auth } from "../../tools/auth.ts";
import { allScopes, permits, readScope, type Scope } from "../../tools/contract/index.ts";
import type { mcp } from "../../tools/mcp.ts";
import { CallFailure, type Client } from "../client/index.ts";
import type { Log } from "../ports/log.ts";
import { tools, toolsOverRest, whoami } from "./tools.ts";

/** What decides over the list of tools. */
export interface Access {
  readonly scopes: ReadonlySet<Scope>;
  /** The tools that the service has, by name; all of the catalogue's when left out. */
  readonly built?: ReadonlySet<string> | undefined;
}

/** After this the log tells that nothing could be learned. */
const learnMs = 10_000;
/** Known scopes wait for the list of tools until so long after both were asked for. */
const listMs = 1_000;

export async function learnAccess(client: Client, log: Log): Promise<Access | undefined> {
  try {
    return await ask(client);
  } catch (error) {
    log.warn(
      { err: error },
      "the key's scopes can't be learned: every tool is listed, and each call decides",
    );
    return undefined;
  }
}

async function ask(client: Client): Promise<Access> {
  // The client needs no more of an operation than this; the declaration would be slow to load.
  const list = toolsOverRest as typeof mcp.list_mcp_tools;
  const listing = client.call(list, {}, { timeoutMs: learnMs }).then(({ data }) => readNames(data));
  // Asked beside whoami, and looked at only where that answers.
  listing.catch(() => undefined);
  const late = sleep(listMs, undefined, { ref: false });
  try {
    const { data } = await client.call(whoami as typeof auth.whoami, {}, { timeoutMs: learnMs });
    const scopes = new Set(data.scopes.flatMap((scope) => readScope(scope) ?? []));
    return { scopes, built: await readKnown(Promise.race([listing, late])) };
  } catch (error) {
    if (!isUnknownThere(error)) {
      throw error;
    }
    return { scopes: infer(await listing) };
  }
}

/** What a Tidings lists, of what is known here; undefined if that is nothing, or could not be learned. */
async function readKnown(
  listing: Promise<ReadonlySet<string> | undefined>,
): Promise<ReadonlySet<string> | undefined> {
  const names = await listing.catch(() => undefined);
  const known = tools.flatMap(({ name }) => (names?.has(name) ? [name] : []));
  return known.length === 0 ? undefined : new Set(known);
}

/** Whether the route may be missing: a gateway in front may say so in many ways. */
function isUnknownThere(error: unknown): boolean {
  return error instanceof CallFailure
    ? error.status !== 401 && error.status !== 429 && (error.status < 500 || error.status === 501)
    : error instanceof TypeError; // an answer of another shape
}

function readNames(data: readonly { readonly name: string }[]): ReadonlySet<string> {
  return new Set(data.map(({ name }) => name));
}

function infer(names: ReadonlySet<string>): ReadonlySet<Scope> {
  const listed = tools.filter(({ name }) => names.has(name));
  if (listed.length === 0) {
    throw new Error("the service lists no tool that is known here");
  }
  const without = (scope: Scope) => new Set(allScopes.filter((other) => other !== scope));
  const proved = allScopes.filter((scope) => listed.some((tool) => !permits(without(scope), tool.scope)));
  // A tool that any of several scopes opens proves none of them; rather too many than too few.
  const open = listed.filter((tool) => !permits(new Set(proved), tool.scope));
  const possible = allScopes.filter((scope) => open.some((tool) => permits(new Set([scope]), tool.scope)));
  return new Set([...proved, ...possible]);
}
