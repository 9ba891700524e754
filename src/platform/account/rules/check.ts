/** Checks acts against the rules that bind them. */
import { fail } from "../../../../tools/errors.ts";
import type { BoundRules } from "../../../../tools/rules.ts";
import type { Queries } from "../../../database/database.ts";
import { contactAttributes, matchesQuery, parseQuery, type Query } from "../../foundation/query/index.ts";
import { getOrganization, nextOpening } from "../organization/index.ts";
import { dependsOnHours } from "./needs.ts";

/** What a message uses. Null: nothing of the kind. */
export interface MessageUse {
  readonly inbox_id: string;
  /** The template's name. */
  readonly template: string | null;
  /** Undefined: not known, as in a single message. */
  readonly cohort_id?: string;
  /** ISO 3166-1 alpha-2; null: not known. */
  readonly country: string | null;
}

/** @throws Failure `not_allowed_by_rules`. */
export function requireAllowed(rules: readonly BoundRules[] | undefined, used: MessageUse): void {
  for (const { allow } of rules ?? []) {
    requireListed(allow.inboxes, used.inbox_id, "this inbox");
    requireListed(allow.templates, used.template, "a message without one of their templates");
    requireListed(allow.countries, used.country, "this country");
    requireListed(allow.cohorts, used.cohort_id ?? null, "a message to people outside of their cohorts");
  }
}

/** @throws Failure of the query language, with the place, such as `rules.allow.when.and[1].operator`. */
export function parseConditionsOfRules(when: unknown, field: string): Query {
  return parseQuery(when, { field, attributes: contactAttributes });
}

/** The conditions of the rules that a contact has to meet, to get a message. */
export function conditionsOf(rules: readonly BoundRules[] | undefined): readonly Query[] {
  return (rules ?? []).flatMap(({ allow }) =>
    allow.when === undefined ? [] : [parseConditionsOfRules(allow.when, "when")],
  );
}

/** @throws Failure `not_allowed_by_rules` if the contact does not meet the conditions. */
export function requireConditions(
  conditions: readonly Query[],
  contact: Readonly<Record<string, unknown>>,
  now: Date,
): void {
  requireConditionsMet(conditions.every((query) => matchesQuery(query, contact, now)));
}

/** @throws Failure `not_allowed_by_rules`. */
export function requireConditionsMet(isMet: boolean): void {
  if (!isMet) {
    throw fail("not_allowed_by_rules", { value: "a message to people who do not meet their conditions" });
  }
}

function requireListed(listed: readonly string[] | undefined, value: string | null, what: string): void {
  if (listed !== undefined && (value === null || !listed.includes(value))) {
    throw fail("not_allowed_by_rules", { value: what });
  }
}

/** Whether a rule depends on the business hours, and the organization is closed now. */
export async function hasOutsideHours(
  db: Queries,
  organization: string,
  { rules, now }: { readonly rules: readonly BoundRules[]; readonly now: Date },
): Promise<boolean> {
  if (!dependsOnHours(rules)) {
    return false;
  }
  const { business_hours, time_zone } = await getOrganization(db, organization);
  return nextOpening(business_hours, time_zone, now)?.getTime() !== now.getTime();
}
