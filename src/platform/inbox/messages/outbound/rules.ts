/**
 * Checks a message against the rules that bind its sender, and says how budgets count it. Here every message
 * passes that is not of a broadcast: calls, tests, flows and the bot. A flow and the bot are bound by the
 * rules of who saved them, as these are at this moment.
 */
import { fail } from "../../../../../tools/errors.ts";
import { allowedOperations, requireOperation } from "../../../../../tools/rule-operations.ts";
import type { BoundRules } from "../../../../../tools/rules.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { countryOf, phoneKind } from "../../../account/phone/index.ts";
import {
  type BudgetedAct,
  budgetsOf,
  conditionsOf,
  hasOutsideHours,
  holdReasonsOf,
  needsOf,
  requireAllowed,
  requireConditions,
} from "../../../account/rules/index.ts";
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import type { MessageRow } from "../progress/index.ts";
import type { Address, FoundRecipient, Recipient } from "./recipient.ts";

interface RuledMessage {
  readonly recipient: Recipient;
  readonly address: Pick<Address, "to">;
  readonly found: Pick<FoundRecipient, "rules">;
  readonly content: MessageRow["content"];
  readonly charge: MessageRow["charge"];
}

type Sender = Pick<OrganizationChange, "organization" | "actor" | "now"> & { readonly db: Queries };

/** The rules that bind a message; undefined: none. */
export function rulesOf(
  { actor }: Pick<Sender, "actor">,
  { rules }: Pick<FoundRecipient, "rules">,
): readonly BoundRules[] | undefined {
  return actor.rules ?? (rules.length > 0 ? rules : undefined);
}

/** @throws Failure `not_allowed_by_rules`. */
export async function requireAllowedMessage(
  sender: Sender,
  message: Omit<RuledMessage, "charge">,
): Promise<void> {
  const { recipient, address, found, content } = message;
  const { inbox } = recipient;
  const { to } = address;
  const rules = rulesOf(sender, found);
  // Of a flow or the bot. A call has been checked by its own operation.
  requireOperation(allowedOperations(sender.actor.rules ? [] : found.rules), "send_message");
  const country = to.kind === phoneKind ? countryOf(to.value) : null;
  requireAllowed(rules, { inbox_id: inbox.id, template: content.template?.name ?? null, country });
  const conditions = conditionsOf(rules);
  if (conditions.length > 0) {
    const phone_number = to.kind === phoneKind ? to.value : null;
    const contact = recipient.contact
      ? await readFactsOfContact(sender, recipient.contact.id)
      : { ...newContact, phone_number, country };
    requireConditions(conditions, contact, sender.now);
  }
}

/** What conditions use of a contact that does not exist yet, besides its number. */
const newContact = { tags: [], metadata: {}, opted_out: false, blocked: false };

/** What conditions use of a contact. Only a sender whose rules have conditions needs this statement. */
async function readFactsOfContact({ db, organization }: Sender, id: string) {
  const { blocked_at, ...contact } = await ofOrganization(db, organization)
    .selectFrom("contacts")
    .select(["name", "phone_number", "country", "tags", "metadata", "opted_out", "blocked_at"])
    .select(["created_at", "updated_at"])
    .select(({ selectFrom }) =>
      selectFrom("conversations")
        .select(({ fn }) => fn.max("last_user_message_at").as("latest"))
        .whereRef("conversations.organization_id", "=", "contacts.organization_id")
        .whereRef("conversations.contact_id", "=", "contacts.id")
        .where("conversations.erased_at", "is", null)
        .as("last_user_message_at"),
    )
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return { ...contact, blocked: blocked_at !== null };
}

/**
 * A message that no plan has frozen must need neither a plan nor a person.
 * @throws Failure `plan_required`, `approval_required`.
 */
export async function requireUnplanned(
  sender: Sender,
  { recipient, found, charge }: RuledMessage,
): Promise<void> {
  const rules = rulesOf(sender, found);
  if (!rules) {
    return;
  }
  const { db, organization, now, actor } = sender;
  const needs = needsOf(rules, {
    deletes: false,
    configures: false,
    broadcasts: false,
    recipients: 1,
    amount: charge?.price ?? 0,
    newContacts: recipient.contact ? 0 : 1,
    isOutside: await hasOutsideHours(db, organization, { rules, now }),
  });
  const reasons = holdReasonsOf(needs);
  if (reasons.length > 0) {
    throw fail("approval_required", { reason: reasons.join(", and ") });
  }
  // Who saved a flow or the bot has planned that, and there is no plan of each message.
  if (needs.plan && actor.rules) {
    throw fail("plan_required");
  }
}

interface CountedMessage {
  readonly recipient: Pick<Recipient, "contact">;
  readonly found: Pick<FoundRecipient, "budgets">;
  readonly charge: MessageRow["charge"];
}

/** A message as budgets count it. A flow and the bot are never released. */
export function toBudgetedAct(
  { organization, actor, now }: Pick<Sender, "organization" | "actor" | "now">,
  { recipient, found, charge }: CountedMessage,
): BudgetedAct {
  const own = budgetsOf(actor);
  return {
    organization,
    ...own,
    budgets: own.budgets.length > 0 ? own.budgets : found.budgets,
    now,
    messages: 1,
    new_contacts: recipient.contact ? 0 : 1,
    spend: charge?.price ?? 0,
    simulated: charge?.simulated ?? false,
  };
}
