/** A policy as its form has it. */

import { readList } from "../../controls/read-list.ts";
import type { Input } from "../../service/call.ts";
import { type Conditions, readConditions, writeConditions } from "./conditions.ts";
import type { RoutingPolicy } from "./policies.ts";

type NewPolicy = Input<"create_routing_policy">;
export type Strategy = RoutingPolicy["strategy"];

export interface PolicyDraft {
  readonly name: string;
  readonly strategy: Strategy;
  /** `team:` or `user:` with the id; `all` for every active team. */
  readonly target: string;
  readonly is_active: boolean;
  readonly conditions: Conditions;
  readonly skills: string;
  readonly relax: string;
  readonly days: string;
  readonly fallback: Exclude<Strategy, "sticky">;
  readonly escalate: string;
  readonly requeue: string;
  /** By the user's id. */
  readonly weights: Readonly<Record<string, string>>;
}

export const defaults = { days: 30, escalate: 120, fallback: "load_balanced" } as const;

export function toPolicyDraft(policy: RoutingPolicy | null): PolicyDraft {
  const settings = policy?.settings ?? {};
  const text = (name: string) => (settings[name] === undefined ? "" : String(settings[name]));
  const weights = Object.entries(Object(settings.weights ?? {})).map(([id, weight]) => [id, String(weight)]);
  return {
    name: policy?.name ?? "",
    strategy: policy?.strategy ?? "load_balanced",
    target:
      policy === null || policy.target_id === null ? "all" : `${policy.target_type}:${policy.target_id}`,
    is_active: policy?.is_active ?? true,
    conditions: readConditions(policy?.conditions ?? {}),
    skills: Array.isArray(settings.required_skills) ? settings.required_skills.join(", ") : "",
    relax: text("relax_after_seconds"),
    days: text("ttl_days"),
    // The service has checked it.
    fallback: (settings.fallback ?? defaults.fallback) as PolicyDraft["fallback"],
    escalate: text("escalate_after_seconds"),
    requeue: text("requeue_after_seconds"),
    weights: Object.fromEntries(weights),
  };
}

/**
 * @param former the settings that the policy has: those that the form does not show stay.
 * @throws SyntaxError for conditions that are no JSON
 */
export function fromPolicyDraft(draft: PolicyDraft, former: RoutingPolicy["settings"]) {
  const [type, target_id] = draft.target.split(":");
  return {
    name: draft.name,
    strategy: draft.strategy,
    is_active: draft.is_active,
    target_type: type === "user" ? ("user" as const) : ("team" as const),
    target_id,
    conditions: writeConditions(draft.conditions),
    settings: { ...former, ...settingsOf(draft) },
  } satisfies NewPolicy;
}

/** A setting that is undefined is left out of the request, which removes it. */
function settingsOf(draft: PolicyDraft): Readonly<Record<string, unknown>> {
  const { strategy, fallback } = draft;
  const uses = (wanted: Strategy) => strategy === wanted || (strategy === "sticky" && fallback === wanted);
  const count = (text: string) => (text.trim() === "" ? undefined : Number(text));
  const skills = readList(draft.skills);
  const weights = Object.entries(draft.weights).filter(([, weight]) => weight.trim() !== "");
  return {
    required_skills: uses("skills_based") && skills.length > 0 ? skills : undefined,
    relax_after_seconds: uses("skills_based") ? count(draft.relax) : undefined,
    ttl_days: strategy === "sticky" ? count(draft.days) : undefined,
    fallback: strategy === "sticky" ? fallback : undefined,
    escalate_after_seconds: count(draft.escalate),
    requeue_after_seconds: count(draft.requeue),
    weights:
      uses("weighted") && weights.length > 0
        ? Object.fromEntries(weights.map(([id, weight]) => [id, Number(weight)]))
        : undefined,
  };
}
