/** Translates the review authority's values for a template's status. */
import type { TemplateStatus } from "../../../../tools/templates/index.ts";

export type ReviewStatus = Exclude<TemplateStatus, "draft">;

/**
 * WhatsApp's values (developers.facebook.com, message template status), including the values in its
 * notifications.
 */
const statuses: Readonly<Record<string, ReviewStatus>> = {
  PENDING: "pending",
  IN_APPEAL: "pending",
  APPROVED: "approved",
  REINSTATED: "approved",
  UNARCHIVED: "approved",
  // The quality is low: the template may be paused soon, but can be sent until then.
  FLAGGED: "approved",
  REJECTED: "rejected",
  PAUSED: "paused",
  // Locked until its owner allows changes again.
  LOCKED: "paused",
  DISABLED: "disabled",
  ARCHIVED: "disabled",
  LIMIT_EXCEEDED: "disabled",
  PENDING_DELETION: "disabled",
  DELETED: "disabled",
};

/** An unknown value leaves the status unchanged. If no status was ever known, the template is pending. */
export function toReviewStatus(raw: string, current: ReviewStatus | null): ReviewStatus {
  return statuses[raw.toUpperCase()] ?? current ?? "pending";
}
