/** The label of a field with an amount of money. */
import { session } from "../../session/session.ts";
import { texts } from "../../texts.ts";

export function withCurrency(label: string): string {
  return texts.settings.inCurrency(label, session.value?.organization.currency ?? "");
}
