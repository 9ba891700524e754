/**
 * Learns what a key may do, from the service that it is for.
 *
 * Ours says it (`whoami`). Another one has no such route, but lists the tools of a credential: a known
 * tool in that list proves its scope. Where nothing can be learned, every tool is listed and each call
 * decides, and the log says so once.
 */
import type { auth } from "../../tools/auth.ts";
import type { mcp } from "../../tools/mcp.ts";
import { allScopes, permits, readScope, type Scope } from "../../tools/scopes.ts";
import { CallFailure, type Client } from "../client.ts";
import type { Log } from "../ports/log.ts";
import { tools, toolsOverRest, whoami } from "./tools.ts";

/** After this the log tells that nothing could be learned. */
const learnMs = 10_000;

export async function learnScopes(client: Client, log: Log): Promise<ReadonlySet<Scope> | undefined> {
  try {
    return await askDirectly(client);
  } catch (error) {
    log.warn(
      { err: error },
      "the key's scopes can't be learned: every tool is listed, and each call decides",
    );
    return undefined;
  }
}

async function askDirectly(client: Client): Promise<ReadonlySet<Scope>> {
  try {
    // The client needs no more of an operation than this; the declaration would be slow to load.
    const { data } = await client.call(whoami as typeof auth.whoami, {}, { timeoutMs: learnMs });
    return new Set(data.scopes.flatMap((scope) => readScope(scope) ?? []));
  } catch (error) {
    if (!isUnknownThere(error)) {
      throw error;
    }
    return infer(client);
  }
}

/** Whether the route may be missing: a gateway in front may say so in many ways. */
function isUnknownThere(error: unknown): boolean {
  return error instanceof CallFailure
    ? error.status !== 401 && error.status !== 429 && (error.status < 500 || error.status === 501)
    : error instanceof TypeError; // an answer of another shape
}

async function infer(client: Client): Promise<ReadonlySet<Scope>> {
  const list = toolsOverRest as typeof mcp.list_mcp_tools; // as above
  const { data } = await client.call(list, {}, { timeoutMs: learnMs });
  const names = new Set(data.map(({ name }) => name));
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
