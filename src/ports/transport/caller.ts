/** The sender of a request, as the platform has authenticated it. */

import type { BoundBudgets } from "../../../tools/budgets.ts";
import type { Scope } from "../../../tools/contract/index.ts";
import type { BoundRules } from "../../../tools/rules.ts";

export type Role = "owner" | "admin" | "supervisor" | "agent";

/** Identifies a user's session. */
export interface Session {
  readonly organization_id: string;
  readonly user_id: string;
  /** Raised by a new password and by deactivation. */
  readonly session_version: number;
  /** The family of refresh tokens; null in an access token of an earlier version. */
  readonly family_id: string | null;
}

/** The authenticated caller. Data of a tenant is never read without a caller. */
export interface Caller {
  readonly organization_id: string;
  readonly credential: {
    readonly type: "api_key" | "access_token";
    readonly id: string;
    readonly name: string;
    readonly expires_at: string | null;
  };
  readonly scopes: ReadonlySet<Scope>;
  /** The signed-in user; null for an API key. */
  readonly user: { id: string; email: string; name: string; role: Role } | null;
  /** The session of an access token; null for an API key. */
  readonly session: Session | null;
  /** The id of the signed-in user, or of the user who created the API key. */
  readonly acts_for: string | null;
  /**
   * The role of the user in `acts_for`; null for a key that no user created, which belongs to the operator.
   */
  readonly role: Role | null;
  /** Whose rules bind it beside its own. */
  readonly rule_holders: readonly string[];
  /** The rules that bind its calls. */
  readonly rules: readonly BoundRules[];
  /** The rules that bind its calls through MCP besides. */
  readonly toolRules: readonly BoundRules[];
  /** The budgets that count its calls: of the caller, of its makers, and of the organization. */
  readonly budgets: readonly BoundBudgets[];
  /** The budgets that count its calls through MCP besides. */
  readonly toolBudgets: readonly BoundBudgets[];
}
