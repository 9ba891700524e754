/** Checks that a caller may run an operation: its credential, its scopes, and the operations of its rules. */

import {
  missingScope,
  type Operation,
  type OtherPath,
  permits,
  type ScopeRule,
} from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { allowedOperations, requireOperation } from "../../../../../tools/rule-operations.ts";
import type { Caller } from "../actor.ts";

/** The sender of a request, as the transport has identified it. */
export interface Requester {
  readonly caller: Caller | null;
  /** Whether the request has the operator's key. */
  readonly isOperator?: boolean;
  /** The name of the MCP tool that makes the request. */
  readonly tool?: string | undefined;
}

/**
 * Returns the caller with the rules that bind this call. Returns null for the operator, and if the path takes
 * no credential, even if one was sent.
 * @throws Failure `credential_missing`, `operator_key_required`, `sign_in_required`, `insufficient_scope`,
 *   `person_required`, `not_allowed_by_rules`.
 */
export function authorize(
  [name, operation]: readonly [name: string, operation: Operation],
  otherPath: OtherPath | undefined,
  { caller, isOperator = false, tool }: Requester,
): Caller | null {
  const { credential } = otherPath ?? operation;
  if (credential === "operator" && !isOperator) {
    throw fail("operator_key_required");
  }
  if (credential === "none" || credential === "operator") {
    return null;
  }
  if (!caller) {
    throw fail("credential_missing");
  }
  if (credential === "bearer" && !caller.user) {
    throw fail("sign_in_required");
  }
  requireScope(caller, otherPath?.scope === undefined ? operation.scope : otherPath.scope);
  if (credential === "person" && (!caller.user || tool !== undefined)) {
    throw fail("person_required");
  }
  const bound = tool === undefined ? caller : bindToTools(caller);
  requireOperation(allowedOperations(bound.rules), name);
  return bound;
}

/** The caller of a tool: what binds its calls through MCP binds this call. */
export function bindToTools({ rules, toolRules, budgets, toolBudgets, ...caller }: Caller): Caller {
  return {
    ...caller,
    rules: [...rules, ...toolRules],
    toolRules: [],
    budgets: [...budgets, ...toolBudgets],
    toolBudgets: [],
  };
}

/** @throws Failure `insufficient_scope`. */
export function requireScope(caller: Caller, rule: ScopeRule | null): void {
  if (!permits(caller.scopes, rule)) {
    throw fail("insufficient_scope", missingScope(rule));
  }
}
