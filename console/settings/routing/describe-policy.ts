/** A policy in a plain sentence: for which conversations, and to whom. */
import { texts } from "../../texts.ts";
import type { NamedRecords, RoutingPolicy } from "./policies.ts";

const words = texts.routing;

export function describePolicy(policy: RoutingPolicy, named: NamedRecords): string {
  return words.sentence(describeConditions(policy.conditions, named), describeTarget(policy, named));
}

function describeConditions(conditions: Readonly<Record<string, unknown>>, named: NamedRecords): string {
  return Object.keys(conditions).length === 0 ? words.always : words.if(describeNode(conditions, named));
}

/** One condition, or several that are joined; the service has checked the form. */
interface Node {
  readonly and?: readonly Node[];
  readonly or?: readonly Node[];
  readonly not?: Node;
  readonly attribute?: string;
  readonly operator?: string;
  readonly value?: unknown;
}

function describeNode(node: Node, named: NamedRecords): string {
  const { and, or, not, attribute = "", operator = "", value } = node;
  if (and !== undefined || or !== undefined) {
    const parts = (and ?? or ?? []).map((part) => describePart(part, named));
    return parts.join(and === undefined ? words.or : words.and);
  }
  if (not !== undefined) {
    return words.not(describeNode(not, named));
  }
  const name = words.attributes[attribute] ?? attribute;
  return [name, words.operators[operator] ?? operator, describeValue(attribute, value, named)]
    .filter(Boolean)
    .join(" ");
}

function describePart(part: Node, named: NamedRecords): string {
  const text = describeNode(part, named);
  return part.and === undefined && part.or === undefined ? text : words.group(text);
}

function describeValue(attribute: string, value: unknown, named: NamedRecords): string {
  if (value === undefined) {
    return "";
  }
  if (Array.isArray(value)) {
    return value.map((each) => describeValue(attribute, each, named)).join(", ");
  }
  const inbox = named.inboxes.find(({ id }) => id === value);
  return words.quoted(attribute === "conversation.inbox_id" && inbox ? inbox.name : String(value));
}

function describeTarget(
  { target_type, target_id, strategy, settings }: RoutingPolicy,
  named: NamedRecords,
): string {
  const name = nameOfTarget({ target_type, target_id }, named);
  if (target_type === "user") {
    return words.toPerson(name);
  }
  const team = target_id === null ? words.allTeams : name;
  const skills = Array.isArray(settings.required_skills) ? settings.required_skills : [];
  return strategy === "skills_based" && skills.length > 0
    ? words.withSkills(team, skills.join(", "))
    : words.to[strategy](team);
}

function nameOfTarget(
  { target_type, target_id }: Pick<RoutingPolicy, "target_type" | "target_id">,
  { teams, people }: NamedRecords,
): string {
  const found = (target_type === "team" ? teams : people).find(({ id }) => id === target_id);
  return found?.name ?? (target_type === "team" ? words.unknownTeam : texts.formerPerson);
}
