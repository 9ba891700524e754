/**
 * The port to the authority that reviews templates before they may be sent. Called outside any transaction.
 *
 * Names are compared without regard to case: an authority may store them in lower case. A name may exist once
 * for each language of an inbox.
 */

import type {
  TemplateCategory,
  TemplateData,
  TemplateSkipReason,
  TemplateStatus,
  Variable,
} from "../../../tools/templates/index.ts";
import type { ChannelAccount } from "./account.ts";
import type { ChannelFile } from "./message-content.ts";

/** The inbox whose templates these are. */
export interface TemplateInbox {
  readonly organization_id: string;
  readonly id: string;
  /** E.164. */
  readonly phone_number: string;
  /** The account that the templates belong to; the simulated channel has none. */
  readonly account?: ChannelAccount | undefined;
}

export interface TemplateVersion {
  readonly category: TemplateCategory;
  /** In a submission, the authority can fetch the sample of a media header from its address. */
  readonly template_data: TemplateData;
  /** In the order of their places: header, body, buttons. */
  readonly variables: Variable[];
}

export interface TemplateSubmission extends TemplateVersion {
  readonly inbox: TemplateInbox;
  readonly name: string;
  readonly language: string;
  /** The authority's id, to change a template that it has; null for a new one. */
  readonly external_id: string | null;
  /** The sample of a media header, for an authority with accounts. */
  readonly sample?: ChannelFile | undefined;
}

export type SubmissionResult =
  | { readonly outcome: "accepted"; readonly external_id: string }
  /** The authority rejects the submission at once; `reason` may be shown to the caller. */
  | { readonly outcome: "refused"; readonly reason: string }
  | BusyOutcome;

/** The call certainly had no effect: too many requests, or the authority is down or can't be reached. */
export interface BusyOutcome {
  readonly outcome: "busy";
}

/** What the authority has decided of a template. */
export type ReviewStatus = Exclude<TemplateStatus, "draft">;

/** A template as the authority has it. */
export interface ReviewedTemplate {
  readonly external_id: string;
  readonly name: string;
  readonly language: string;
  /** In the authority's own words, for example APPROVED or IN_APPEAL. */
  readonly raw_status: string;
  readonly rejection_reason: string | null;
  /** GREEN, YELLOW, RED or UNKNOWN. */
  readonly quality_rating: string | null;
  readonly category: TemplateCategory;
  /** Null if it has parts that this service can't send, such as a carousel. */
  readonly version: TemplateVersion | null;
  /** Why `version` is null. */
  readonly skip_reason?: TemplateSkipReason | undefined;
}

export interface TemplateQuery {
  readonly inbox: TemplateInbox;
  /** Only templates of this name, in every language. */
  readonly name?: string | undefined;
  /** `next` of the previous page; null for the first one. */
  readonly cursor: string | null;
}

export interface TemplatePage {
  readonly templates: readonly ReviewedTemplate[];
  /** Null on the last page. */
  readonly next: string | null;
}

/** If a function throws, it is unknown whether the call had an effect. */
export interface TemplateAuthority {
  /** The codes of the languages that it reviews, such as en_US. */
  readonly languages: readonly string[];
  /** What `raw_status` means; null for a word that is not known, which leaves the status as it is. */
  statusOf(raw_status: string): ReviewStatus | null;
  submit(submission: TemplateSubmission, signal: AbortSignal): Promise<SubmissionResult>;
  /** In an order that does not change while templates are added. */
  list(query: TemplateQuery, signal: AbortSignal): Promise<TemplatePage>;
  /** Deletes a template in one language; succeeds if it does not exist. */
  delete(
    template: { readonly inbox: TemplateInbox; readonly external_id: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<
    { readonly outcome: "deleted" } | { readonly outcome: "refused"; readonly reason: string } | BusyOutcome
  >;
}

/**
 * The authority's message that something about templates changed. It may repeat, be late, or
 * arrive out of order.
 */
export interface TemplateNotice {
  readonly organization_id: string;
  /** The inbox's number, E.164. */
  readonly phone_number: string;
  readonly name: string;
}

/** The function that an authority calls. It resolves when the notices are durable, and is safe to repeat. */
export interface TemplateAuthorityCallbacks {
  onTemplatesChanged(notices: readonly TemplateNotice[]): Promise<void>;
}
