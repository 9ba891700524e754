/** Recognizes a business-scoped user id, WhatsApp's substitute for a phone number that its owner hides. */

/** A country code, then letters and digits; for example US.13491208655302741918. */
const bsuid = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

export function isBsuid(recipient: string): boolean {
  return bsuid.test(recipient);
}
