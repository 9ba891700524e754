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
