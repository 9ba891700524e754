/** Describes a caller: what the credential may do, in which organization, with which inboxes and tools. */
import { allScopes, groupHiddenTools, type Operation } from "../../../../tools/contract/index.ts";
import { resources } from "../../../../tools/index.ts";
import { allowedOperations, permitsOperation } from "../../../../tools/rule-operations.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Caller, ReadContext, World } from "../../foundation/kernel/index.ts";
import { getOrganization } from "../organization/index.ts";
import { serializeInbox } from "./serialize.ts";

/** What hides a tool that rules do not allow. */
const rulesSetting = "rules: allow.operations";

export async function whoami({ caller, db, world, organization, now }: ReadContext) {
  const allowed = allowedOperations(caller.rules);
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
    allowed_operations: allowed && [...allowed],
    inboxes: inboxes.map((inbox) => serializeInbox(world, inbox)),
    hidden_tools: listHiddenTools(world, caller),
    now: now.toISOString(),
  };
}

/** The name and the resource of each operation. */
const places: ReadonlyMap<Operation, { readonly operation: string; readonly group: string }> = new Map(
  Object.entries(resources).flatMap(([group, operations]) =>
    Object.entries(operations).map(
      ([operation, declared]: [string, Operation]) => [declared, { operation, group }] as const,
    ),
  ),
);

function listHiddenTools({ tools, hiddenBy }: World, { scopes, rules }: Caller) {
  const allowed = allowedOperations(rules);
  const all = [...tools].map(([name, declared]) => {
    const { operation = "", group = "" } = places.get(declared) ?? {};
    const ruled = permitsOperation(allowed, operation) ? undefined : rulesSetting;
    return { name, scope: declared.scope, group, setting: hiddenBy(name) ?? ruled };
  });
  return groupHiddenTools(all, scopes);
}
