/** Which operations rules allow: `allow.operations` is the whole list of what a key may call. */
import { fail } from "./errors.ts";
import type { Rules } from "./rules.ts";

/**
 * What every key may call: what describes it, the tools over REST, the report of a rejected call, and plans.
 * Of a tool and of a plan, the operation that is called or planned has to be allowed.
 */
export const alwaysAllowedOperations: readonly string[] = [
  "whoami",
  "list_mcp_tools",
  "call_mcp_tool",
  "report_rejected_call",
  "plan_call",
  "run_plan",
  "list_plans",
  "get_plan",
  "wait_for_plan",
  "amend_plan",
  "withdraw_plan",
  "request_confirmation",
  "confirm_plan",
];

/** The operations that a caller may call besides those; null: all. */
export type AllowedOperations = readonly string[] | null;

/** The operations that all of these rules allow. */
export function allowedOperations(rules: readonly Pick<Rules, "allow">[]): AllowedOperations {
  const [first, ...others] = rules.flatMap(({ allow }) => (allow.operations ? [allow.operations] : []));
  return first?.filter((name) => others.every((listed) => listed.includes(name))) ?? null;
}

export function permitsOperation(allowed: AllowedOperations, name: string): boolean {
  return allowed === null || allowed.includes(name) || alwaysAllowedOperations.includes(name);
}

/** An error is read by people and models: it names so many operations. */
const maxNamed = 20;

/** @throws Failure `not_allowed_by_rules`, which names the operations that are allowed. */
export function requireOperation(allowed: AllowedOperations, name: string): void {
  if (allowed === null || permitsOperation(allowed, name)) {
    return;
  }
  const others = allowed.length > maxNamed ? ` and ${allowed.length - maxNamed} others` : "";
  const known = allowed.length === 0 ? "no operation" : `only ${allowed.slice(0, maxNamed).join(", ")}`;
  throw fail("not_allowed_by_rules", { value: `${name}, ${known}${others}` });
}
