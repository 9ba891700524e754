/** What the rules ask for before an act: nothing, a plan, or a person. A pure function of its facts. */
import { fromMicros } from "../../../../tools/money.ts";
import {
  type BoundRules,
  broadcastingOperations,
  immediateOperations,
  schedulingOperations,
} from "../../../../tools/rules.ts";

/** What is known of an act. Null: not known before it runs. */
export interface ActFacts {
  readonly deletes: boolean;
  /** Whether it changes what acts later. */
  readonly configures: boolean;
  /** Whether it sends a broadcast, now or at a time. */
  readonly broadcasts: boolean;
  /** Whether it is outside the business hours. */
  readonly isOutside: boolean;
  readonly recipients: number | null;
  /** In millionths of the currency's unit. */
  readonly amount: number | null;
  /** How many recipients are no contacts yet; null also for a call that creates contacts. */
  readonly newContacts: number | null;
}

export interface Needs {
  readonly plan: boolean;
  /** Why the user of the client has to confirm it; empty: the user does not have to. */
  readonly confirm: readonly string[];
  /** Why a person has to release it; empty: nobody has to. */
  readonly person: readonly string[];
}

/** An act satisfies all rules that bind it. */
export function needsOf(rules: readonly BoundRules[], facts: ActFacts): Needs {
  const reasons = rules.flatMap((one) => reasonsOf(one, facts));
  return {
    plan: rules.some(({ mode }) => mode !== "auto"),
    confirm: rules.some(({ mode }) => mode === "confirm") ? [confirmReason] : [],
    person: [...new Set(reasons)],
  };
}

const confirmReason = "the user of the client confirms every call";

/** Why a person has to release an act, or the client's user has to confirm it; empty if nobody has to. */
export function holdReasonsOf({ person, confirm }: Needs): readonly string[] {
  return [...person, ...confirm];
}

function reasonsOf({ mode, approve, allow }: BoundRules, facts: ActFacts): readonly string[] {
  const { recipients, amount, newContacts } = facts;
  const { recipients_above: maxRecipients, amount_above: maxAmount } = approve;
  const reasons: Readonly<Record<string, boolean>> = {
    "a person releases every call": mode === "approve",
    [`it reaches more than ${maxRecipients} people`]: isAbove(recipients, maxRecipients),
    [`it costs more than ${maxAmount}`]: isAbove(amount === null ? null : fromMicros(amount), maxAmount),
    "it reaches or creates new contacts": approve.new_contacts === true && newContacts !== 0,
    "its recipients are not known in advance": recipients === null && limitsMessages(allow),
    "what it sends is not known in advance": isUnknownMessage(facts) && limitsMessages(allow),
    "it sends a broadcast": approve.broadcasts === true && facts.broadcasts,
    "it deletes": approve.delete === true && facts.deletes,
    "it changes what acts later": approve.configure === true && facts.configures,
    "it is outside the business hours": approve.outside_hours === true && facts.isOutside,
  };
  return Object.keys(reasons).filter((reason) => reasons[reason]);
}

/** A flow that is triggered decides what it sends, so its price is not known. */
function isUnknownMessage({ recipients, amount }: ActFacts): boolean {
  return recipients !== null && recipients > 0 && amount === null;
}

/** What is not known may be above. */
function isAbove(value: number | null, limit: number | undefined): boolean {
  return limit !== undefined && (value === null || value > limit);
}

/** Whether a rule depends on whom an act reaches, and at what price. */
export function dependsOnTargets(rules: readonly BoundRules[]): boolean {
  return rules.some(
    ({ approve: { recipients_above, amount_above, new_contacts }, allow }) =>
      recipients_above !== undefined ||
      amount_above !== undefined ||
      new_contacts === true ||
      limitsMessages(allow),
  );
}

/** Which operations are allowed does not depend on whom they reach. */
function limitsMessages({ operations: _, ...messages }: BoundRules["allow"]): boolean {
  return Object.keys(messages).length > 0;
}

export function dependsOnHours(rules: readonly BoundRules[]): boolean {
  return rules.some(({ approve }) => approve.outside_hours === true);
}

/** Whether the call changes what acts later: most operations do, and whatever has a time of its own. */
export function isConfiguring(operation: string, input: unknown): boolean {
  return !immediateOperations.includes(operation) || isScheduling(input);
}

export function isBroadcasting(operation: string, input: unknown): boolean {
  const schedules = schedulingOperations.includes(operation) && isScheduling(input);
  return schedules || broadcastingOperations.includes(operation);
}

function isScheduling(input: unknown): boolean {
  const { scheduled_at } = Object(input);
  return scheduled_at !== undefined && scheduled_at !== null;
}
