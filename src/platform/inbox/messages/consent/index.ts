/** What a contact's text says of the consent to marketing messages. */
export { applyConsentWords, readConsent } from "./apply-words.ts";
export { asksToStop } from "./stop-request.ts";
