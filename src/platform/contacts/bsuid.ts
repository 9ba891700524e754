/** Whom a message is for: a phone number or, of a person who hides it, the id that the channel gives them. */

/** WhatsApp's business-scoped user id: a country, then letters and digits. */
const bsuid = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

export function isBsuid(recipient: string): boolean {
  return bsuid.test(recipient);
}
