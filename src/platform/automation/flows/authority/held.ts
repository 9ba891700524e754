/** What a flow may do: the scopes under which it was saved, within the present role of its creator. */
import { allScopes, type Scope } from "../../../../../tools/contract/index.ts";
import { roleScopes } from "../../../account/identity/index.ts";
import type { FlowWithVersion } from "../definitions/find.ts";

export type Authority = Pick<FlowWithVersion, "scopes" | "creator_id" | "creator_role">;

/** The scopes that the flow needs and its creator has lost. An earlier version stored none: such a flow goes on. */
export function lostScopes({ scopes, ...creator }: Authority): readonly string[] {
  const held: readonly string[] = heldBy(creator);
  return (scopes ?? []).filter((scope) => !held.includes(scope));
}

export function heldScopes({ scopes, ...creator }: Authority): readonly Scope[] {
  return heldBy(creator).filter((scope) => scopes?.includes(scope));
}

/** A key that no user created is the operator's. */
function heldBy({ creator_id, creator_role }: Omit<Authority, "scopes">): readonly Scope[] {
  if (creator_id === null) {
    return allScopes;
  }
  return creator_role === null ? [] : roleScopes[creator_role];
}
