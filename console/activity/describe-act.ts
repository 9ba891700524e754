/** An act as a sentence, with the names of what it was about, and what has come of it. */
import type { Plan } from "../approvals/plan-list.ts";
import { kindOf, nameOfRecord } from "../service/record-names.ts";
import { actWords, describeAct } from "../texts/acts.ts";
import { texts } from "../texts.ts";
import type { Act } from "./act.ts";

/** @param plan of a call that had to wait, once it is known */
export function sentenceOf({ operation, outcome, ids }: Act, plan?: Plan): string {
  const kind = actWords[operation]?.kind;
  const id = kind === undefined ? undefined : ids.find((each) => kindOf(each) === kind);
  const name = id === undefined ? nameOfTargets(operation, plan) : nameOfRecord(id).value;
  return describeAct(operation, outcome, name);
}

/** The recipients of a message that has not been sent: no contact is known by its id. */
function nameOfTargets(operation: string, plan: Plan | undefined): string {
  if (operation !== "send_message" || plan === undefined) {
    return "";
  }
  const { recipient_count, samples } = plan;
  const [only] = samples;
  return recipient_count === 1 && only !== undefined
    ? (only.name ?? only.to ?? "")
    : texts.approvals.people(recipient_count);
}

interface ActState {
  readonly text: string;
  readonly class: `outcome-${Act["outcome"]}`;
}

const stateClasses: Readonly<Partial<Record<Plan["status"], ActState["class"]>>> = {
  run: "outcome-done",
  running: "outcome-done",
  released: "outcome-done",
  failed: "outcome-refused",
  declined: "outcome-refused",
};

/** What has come of an act by now: a call that had to wait may have been approved since. */
export function stateOfAct({ outcome }: Pick<Act, "outcome">, plan?: Plan): ActState {
  return plan === undefined
    ? { text: texts.activity.outcomes[outcome], class: `outcome-${outcome}` }
    : {
        text: texts.activity.afterWait[plan.status],
        class: stateClasses[plan.status] ?? "outcome-waiting",
      };
}
