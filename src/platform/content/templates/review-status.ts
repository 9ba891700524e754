/** Translates the review authority's words for a template's status. */
import type { TemplateStatus } from "../../../../tools/templates/index.ts";

export type ReviewStatus = Exclude<TemplateStatus, "draft">;

/** WhatsApp's words (developers.facebook.com, message template status), also those of its notices. */
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

/** A word that is not known leaves the status as it is; a template whose status was never known is pending. */
export function toReviewStatus(raw: string, current: ReviewStatus | null): ReviewStatus {
  return statuses[raw.toUpperCase()] ?? current ?? "pending";
}
