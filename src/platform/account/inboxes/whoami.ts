/** Describes a caller: what the credential may do, in which organization, with which inboxes and tools. */
import { allScopes, groupHiddenTools, type Operation } from "../../../../tools/contract/index.ts";
import { resources } from "../../../../tools/index.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Caller, ReadContext, World } from "../../foundation/kernel/index.ts";
import { getOrganization } from "../organization/index.ts";
import { serializeInbox } from "./serialize.ts";

export async function whoami({ caller, db, world, organization, now }: ReadContext) {
  const [summary, inboxes] = await Promise.all([
    getOrganization(db, organization),
    ofOrganization(db, organization).selectFrom("inboxes").selectAll().orderBy("id").execute(),
  ]);
  return {
    organization: summary,
    credential: caller.credential,
    user: caller.user,
    role: caller.user?.role ?? null,
    scopes: [...caller.scopes],
    missing_scopes: allScopes.filter((scope) => !caller.scopes.has(scope)),
    inboxes: inboxes.map((inbox) => serializeInbox(world, inbox)),
    hidden_tools: listHiddenTools(world, caller),
    now: now.toISOString(),
  };
}

/** The resource of each operation. */
const groups: ReadonlyMap<Operation, string> = new Map(
  Object.entries(resources).flatMap(([group, operations]) =>
    Object.values(operations).map((operation: Operation) => [operation, group] as const),
  ),
);

function listHiddenTools({ tools, hiddenBy }: World, { scopes }: Caller) {
  const places = [...tools].map(([name, operation]) => {
    const { scope } = operation;
    return { name, scope, group: groups.get(operation) ?? "", setting: hiddenBy(name) };
  });
  return groupHiddenTools(places, scopes);
}
