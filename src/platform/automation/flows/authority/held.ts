/** What a flow may do: the scopes with which it was saved, within the present role of its creator. */
import { allScopes, type Scope } from "../../../../../tools/contract/index.ts";
import { roleScopes } from "../../../account/identity/index.ts";
import type { FlowWithVersion } from "../definitions/find.ts";

export type Authority = Pick<FlowWithVersion, "scopes" | "creator_id" | "creator_role">;

/**
 * The scopes that the flow needs and its creator has lost. A flow of an earlier version has no stored scopes
 * and continues.
 */
export function lostScopes({ scopes, ...creator }: Authority): readonly string[] {
  const held: readonly string[] = heldBy(creator);
  return (scopes ?? []).filter((scope) => !held.includes(scope));
}

export function heldScopes({ scopes, ...creator }: Authority): readonly Scope[] {
  return heldBy(creator).filter((scope) => scopes?.includes(scope));
}

/** A key that no user created belongs to the operator. */
function heldBy({ creator_id, creator_role }: Omit<Authority, "scopes">): readonly Scope[] {
  if (creator_id === null) {
    return allScopes;
  }
  return creator_role === null ? [] : roleScopes[creator_role];
}
