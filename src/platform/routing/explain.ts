/** A decision in a sentence, for whoever asks why a conversation went where it went. */
import type { Policy } from "./policy.ts";
import type { AgentChoice, PassedOverReason } from "./strategies.ts";

interface Team {
  readonly id: string;
  readonly name: string;
}

const reasons: Record<PassedOverReason, string> = {
  unavailable: "unavailable",
  inactive: "inactive",
  at_capacity: "at capacity",
  lacks_skills: "without the skills",
  not_next: "not next",
  not_last_agent: "not the last agent",
};

export function explainChoice(policy: Policy, { agent, reason }: AgentChoice, home: Team | null): string {
  const isBeyond = home !== null && agent.team_id !== home.id;
  const beyond = isBeyond ? `, in a higher tier, as nobody of ${home.name} was free in time` : "";
  return `${nameOf(policy)} chose ${agent.name}, ${reason}${beyond}.`;
}

export function explainQueue(
  policy: Policy,
  found: readonly PassedOverReason[] | "others wait longer",
  home: Team | null,
): string {
  const where = home ? ` in the queue of ${home.name}` : "";
  if (found === "others wait longer") {
    return `${nameOf(policy)} lets it wait${where} behind others who wait longer.`;
  }
  const counts = Object.entries(reasons).map(([reason, words]) => {
    const count = found.filter((one) => one === reason).length;
    return count > 0 ? `${count} ${words}` : "";
  });
  const why = counts.filter(Boolean).join(", ") || "nobody is there";
  return `${nameOf(policy)} found nobody free (${why}): it waits${where}.`;
}

export function explainMismatch(policies: readonly Policy[]): string {
  const [only] = policies;
  if (!only) {
    return "There is no active routing policy.";
  }
  return policies.length === 1
    ? `The policy "${only.name}" is not for this conversation.`
    : `None of the ${policies.length} policies is for this conversation.`;
}

function nameOf({ id, name, strategy }: Policy): string {
  return id === null
    ? `The team "${name}", which has no policy (${strategy}),`
    : `The policy "${name}" (${strategy})`;
}
