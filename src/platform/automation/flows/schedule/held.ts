/** Whether the rules of who saved a scheduled flow ask for a person, because it starts for many at once. */
import type { BoundRules } from "../../../../../tools/rules.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { needsOf, readRulesBoundTo } from "../../../account/rules/index.ts";
import { listMemberIds } from "../../cohorts/index.ts";
import { type AudienceContext, findReadyCohort } from "./audience.ts";

/**
 * The reasons as the rules are now; empty if nobody has to release it. What the rules allow is checked for
 * each message.
 */
export async function heldReasons(context: AudienceContext): Promise<readonly string[]> {
  const { tx, flow } = context;
  const { rules } = await readRulesBoundTo(tx, flow.organization_id, flow.id);
  if (rules.length === 0) {
    return [];
  }
  const releases = rules.map((one) => ({ ...one, allow: {} }));
  const { person } = needsOf(releases, {
    deletes: false,
    configures: false,
    broadcasts: true,
    isOutside: false,
    recipients: await countAudience(context, limitOf(rules) + 1),
    amount: null,
    newContacts: 0,
  });
  return person;
}

/** More persons than this need a release; without a limit, they are not counted. */
function limitOf(rules: readonly BoundRules[]): number {
  const limits = rules.flatMap(({ approve }) => approve.recipients_above ?? []);
  return limits.length === 0 ? -1 : Math.min(...limits);
}

/** How many the flow would start for, at most `limit`. */
async function countAudience({ tx, now, flow }: AudienceContext, limit: number): Promise<number> {
  const { organization_id: organization, cohort_id, inbox_id } = flow;
  if (limit === 0) {
    return 0;
  }
  if (cohort_id !== null) {
    const audience = await findReadyCohort(tx, organization, cohort_id);
    const first = { after: "", limit };
    return audience ? (await listMemberIds(tx, { organization, audience, now }, first)).length : 0;
  }
  const open = await ofOrganization(tx, organization)
    .selectFrom("conversations")
    .select("id")
    .where("status", "=", "open")
    .where("erased_at", "is", null)
    .$if(inbox_id !== null, (rows) => rows.where("inbox_id", "=", inbox_id ?? ""))
    .limit(limit)
    .execute();
  return open.length;
}
