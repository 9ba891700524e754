/** Where a contact can be written to. */
import { fail } from "../../../../tools/errors.ts";
import type { ContactRow } from "./find.ts";

/** The phone number, or the bsuid of a contact who hides it. @throws Failure `contact_unreachable`. */
export function requireAddress({ phone_number, bsuid }: Pick<ContactRow, "phone_number" | "bsuid">): string {
  const address = phone_number ?? bsuid;
  if (address === null) {
    throw fail("contact_unreachable");
  }
  return address;
}

/**
 * A business-scoped user id, WhatsApp's substitute for a phone number that its owner hides: a country code,
 * then letters and digits; for example US.13491208655302741918.
 */
const bsuidPattern = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

export function isBsuid(recipient: string): boolean {
  return bsuidPattern.test(recipient);
}
