/**
 * Checks a message against the rules that bind its sender. Here every message passes that is not of a
 * broadcast: calls, tests, flows and the bot. A flow and the bot are bound by the rules of who saved them, as
 * these are at this moment.
 */
import { fail } from "../../../../../tools/errors.ts";
import type { BoundRules } from "../../../../../tools/rules.ts";
import type { Queries } from "../../../../database/database.ts";
import { countryOf, phoneKind } from "../../../account/phone/index.ts";
import { hasOutsideHours, needsOf, requireAllowed } from "../../../account/rules/index.ts";
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import type { MessageRow } from "../progress.ts";
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
export function requireAllowedMessage(
  sender: Sender,
  { recipient: { inbox }, address: { to }, found, content }: Omit<RuledMessage, "charge">,
): void {
  requireAllowed(rulesOf(sender, found), {
    inbox_id: inbox.id,
    template: content.template?.name ?? null,
    country: to.kind === phoneKind ? countryOf(to.value) : null,
  });
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
  const { plan, person } = needsOf(rules, {
    deletes: false,
    configures: false,
    recipients: 1,
    amount: charge?.price ?? 0,
    newContacts: recipient.contact ? 0 : 1,
    isOutside: await hasOutsideHours(db, organization, { rules, now }),
  });
  if (person.length > 0) {
    throw fail("approval_required", { reason: person.join(", and ") });
  }
  // Who saved a flow or the bot has planned that, and there is no plan of each message.
  if (plan && actor.rules) {
    throw fail("plan_required");
  }
}
