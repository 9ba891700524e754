/** Translates Meta's words for a template's status, which the simulated authority uses too. */
import type { ReviewStatus } from "../../ports/channel/template-authority.ts";

/** By Meta's page (developers.facebook.com, message template status), also the words of its notices. */
const statuses: Readonly<Record<string, ReviewStatus>> = {
  PENDING: "pending",
  IN_APPEAL: "pending",
  APPROVED: "approved",
  REINSTATED: "approved",
  UNARCHIVED: "approved",
  // Its quality is low: it may be paused soon, and is sent until then.
  FLAGGED: "approved",
  REJECTED: "rejected",
  PAUSED: "paused",
  // Until its owner allows changes again.
  LOCKED: "paused",
  DISABLED: "disabled",
  ARCHIVED: "disabled",
  LIMIT_EXCEEDED: "disabled",
  PENDING_DELETION: "disabled",
  DELETED: "disabled",
};

export function reviewStatusOf(raw_status: string): ReviewStatus | null {
  return statuses[raw_status.toUpperCase()] ?? null;
}
