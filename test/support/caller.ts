/** A caller for handlers that are called without a server. */
import type { Caller } from "../../src/ports/transport/caller.ts";

export function callerOf(organization_id: string): Caller {
  return {
    organization_id,
    credential: { type: "api_key", id: "key_1", name: "Test", expires_at: null },
    scopes: new Set(),
    user: null,
    session: null,
    acts_for: null,
    role: null,
    rule_holders: [],
    rules: [],
    toolRules: [],
    budgets: [],
    toolBudgets: [],
  };
}
