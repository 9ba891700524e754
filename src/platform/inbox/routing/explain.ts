/**
 * Explains a decision in one sentence, for the people who look up why a conversation was assigned as it was.
 */
import type { Team } from "./escalation-path.ts";
import type { Policy } from "./policy.ts";
import type { AgentChoice, PassedOverReason } from "./strategies.ts";

/** Why an agent was passed over, in words. */
export const reasonTexts: Readonly<Record<PassedOverReason, string>> = {
  unavailable: "unavailable",
  inactive: "inactive",
  team_inactive: "in an inactive team",
  at_capacity: "at capacity",
  lacks_skills: "without the skills",
  not_next: "not next",
  not_last_agent: "not the last agent",
};

export function explainChoice(policy: Policy, { agent, reason }: AgentChoice, target: Team | null): string {
  const isEscalated = target !== null && agent.team_id !== target.id;
  const escalation = isEscalated ? `, in a higher tier, as nobody of ${target.name} was free in time` : "";
  return `${nameOf(policy)} chose ${agent.name}, ${reason}${escalation}.`;
}

export function explainQueue(
  policy: Policy,
  reasons: readonly PassedOverReason[] | "others wait longer",
  target: Team | null,
): string {
  const queue = target ? ` in the queue of ${target.name}` : "";
  if (reasons === "others wait longer") {
    return `${nameOf(policy)} lets it wait${queue} behind others who wait longer.`;
  }
  if (target && !target.is_active && reasons.every((reason) => reason === "team_inactive")) {
    return `${nameOf(policy)} found nobody, as the team ${target.name} is inactive: it waits${queue}.`;
  }
  const counts = Object.entries(reasonTexts).map(([reason, text]) => {
    const count = reasons.filter((passedOver) => passedOver === reason).length;
    return count > 0 ? `${count} ${text}` : "";
  });
  const why = counts.filter(Boolean).join(", ") || "nobody is there";
  return `${nameOf(policy)} found nobody free (${why}): it waits${queue}.`;
}

export function explainMismatch(policies: readonly Policy[]): string {
  const [policy] = policies;
  if (!policy) {
    return "There is no active routing policy.";
  }
  return policies.length === 1
    ? `The policy "${policy.name}" is not for this conversation.`
    : `None of the ${policies.length} policies is for this conversation.`;
}

/** How one of the team is chosen, in words. */
const strategyTexts: Readonly<Record<Policy["strategy"], string>> = {
  round_robin: "in turn",
  load_balanced: "by free room",
  skills_based: "by skills",
  sticky: "the last agent first",
  weighted: "by weights",
};

function nameOf({ id, name, strategy }: Policy): string {
  return id === null
    ? `The team "${name}", which has no policy (${strategyTexts[strategy]}),`
    : `The policy "${name}" (${strategyTexts[strategy]})`;
}
