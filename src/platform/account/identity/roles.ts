/** The scopes of each role. */
import { allScopes, type Scope } from "../../../../tools/contract/index.ts";
import type { Role } from "../../../ports/transport/caller.ts";

/** The scopes of a signed-in user. */
export const roleScopes: Readonly<Record<Role, readonly Scope[]>> = {
  owner: allScopes,
  admin: allScopes,
  supervisor: allScopes.filter((scope) => !scope.startsWith("tokens:") && scope !== "broadcasts:send"),
  agent: [
    "inbox:read",
    "inbox:write",
    "contacts:read",
    "contacts:write",
    "templates:read",
    "broadcasts:read",
  ],
};
