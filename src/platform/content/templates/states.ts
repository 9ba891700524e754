/**
 * The states of a template, as pure functions of events.
 *
 * There are two versions: the draft (`category`, `template_data`, `variables`), which the next submission
 * sends, and the version at the authority (`submitted`, with `review_status`). `status` is draft while the
 * versions differ, and the authority's status otherwise.
 *
 * draft → pending (submitted) → approved or rejected → draft (changed) → pending. While a submission runs,
 * the status is pending and `submitting_since` is set; reports of the authority during this time may be about
 * the earlier version and are ignored. The approved version can be sent while the status is approved, or
 * draft. The authority may pause, disable or review it again at any time; its decision is final.
 */
import type { Selectable } from "kysely";
import type { TemplateData } from "../../../../tools/templates/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { ReviewedTemplate, ReviewStatus } from "../../../ports/channel/template-authority.ts";
import type { Version } from "./version.ts";

export type TemplateRow = Selectable<Tables["templates"]>;

/** The columns that make up the state. */
export type TemplateState = Pick<
  TemplateRow,
  | "category"
  | "status"
  | "template_data"
  | "variables"
  | "submitted"
  | "review_status"
  | "raw_status"
  | "rejection_reason"
  | "quality_rating"
  | "external_id"
  | "missing_at_authority"
  | "submitting_since"
  | "edits_submitted_at"
>;

/** The state before the first submission. */
export function createState({ category, template_data, variables }: Version): TemplateState {
  return {
    category,
    template_data,
    variables,
    status: "draft",
    review_status: null,
    raw_status: null,
    rejection_reason: null,
    quality_rating: null,
    external_id: null,
    missing_at_authority: false,
    submitted: null,
    submitting_since: null,
    edits_submitted_at: [],
  };
}

/** Whether messages can be sent with the submitted version. */
export function isSendable(state: TemplateState): boolean {
  const { status, submitted, review_status, missing_at_authority } = state;
  const isApproved = review_status === "approved" && !missing_at_authority;
  return submitted !== null && isApproved && (status === "approved" || status === "draft");
}

/** A template can't be changed while it is in review, or after the authority has taken it out of use. */
export function isEditable({ status }: Pick<TemplateState, "status">): boolean {
  return status === "draft" || status === "approved" || status === "rejected";
}

/**
 * The template after a change. It becomes a draft, unless it equals the authority's version. A template that
 * the authority has lost must be submitted again.
 */
export function edit(state: TemplateState, changes: Partial<Version>): TemplateState {
  const changed = { ...state, ...changes };
  const { submitted, review_status, missing_at_authority } = changed;
  const isUnchanged = submitted !== null && !missing_at_authority && isSameVersion(changed, submitted);
  return { ...changed, status: isUnchanged && review_status !== null ? review_status : "draft" };
}

/** How often an approved template may be changed. The strictest authority decides. */
const editLimits = [
  { count: 1, periodMs: 24 * 3_600_000 },
  { count: 10, periodMs: 30 * 24 * 3_600_000 },
] as const;

/** The time from which the draft may be submitted; undefined if it may be submitted now. */
export function findEditLimit(state: TemplateState, now: Date): Date | undefined {
  if (state.review_status !== "approved") {
    return undefined;
  }
  const times = state.edits_submitted_at.map((time) => Date.parse(time)).sort((one, other) => other - one);
  const allowed = editLimits.flatMap(({ count, periodMs }) => {
    const oldest = times[count - 1];
    return oldest !== undefined && oldest + periodMs > now.getTime() ? [oldest + periodMs] : [];
  });
  return allowed.length === 0 ? undefined : new Date(Math.max(...allowed));
}

/** Begins a submission of the draft. */
export function beginSubmission(state: TemplateState, now: Date): TemplateState {
  return { ...state, status: "pending", submitting_since: now.toISOString() };
}

/** Records that the authority has accepted the submission. */
export function acceptSubmission(state: TemplateState, external_id: string): TemplateState {
  const { category, template_data, variables, submitting_since } = state;
  const isEdit = state.review_status === "approved" && submitting_since !== null;
  return {
    ...state,
    status: "pending",
    review_status: "pending",
    raw_status: "PENDING",
    rejection_reason: null,
    external_id,
    missing_at_authority: false,
    submitting_since: null,
    submitted: { category, template_data, variables },
    edits_submitted_at: isEdit
      ? [...state.edits_submitted_at.slice(-9), submitting_since]
      : state.edits_submitted_at,
  };
}

/** Records that the authority does not have the submission. */
export function cancelSubmission(state: TemplateState): TemplateState {
  return { ...state, status: "draft", submitting_since: null };
}

/**
 * Records that the authority does not list the template. The template is kept, because sent messages refer to
 * it.
 */
export function markMissing(state: TemplateState): TemplateState {
  return state.submitting_since !== null && isNewAtAuthority(state)
    ? cancelSubmission(state)
    : { ...resolveSubmission(state, undefined), missing_at_authority: state.external_id !== null };
}

/** What the authority says of a template. */
export interface TemplateReview extends ReviewedTemplate {
  /** Null: the authority's word is not known. */
  readonly status: ReviewStatus | null;
}

/** A template whose status was never known is pending. */
export function applyReview(before: TemplateState, reviewed: TemplateReview): TemplateState {
  const state = resolveSubmission(before, reviewed);
  const { raw_status, quality_rating, external_id } = reviewed;
  const review_status = reviewed.status ?? state.review_status ?? "pending";
  const submitted = toSubmitted(state, reviewed);
  const hasNewContent = submitted !== state.submitted;
  return {
    ...state,
    review_status,
    raw_status,
    quality_rating,
    external_id,
    submitted,
    missing_at_authority: false,
    ...(state.status === "draft" ? {} : { ...(hasNewContent ? submitted : {}), status: review_status }),
    rejection_reason: review_status === "rejected" ? reviewed.rejection_reason : null,
  };
}

/** Whether the state `after`, which was made from `before`, differs from it. */
export function hasChanged(before: TemplateState, after: TemplateState): boolean {
  // Both have the keys of the same type.
  return (Object.keys(after) as (keyof TemplateState)[]).some((key) => after[key] !== before[key]);
}

/** Whether a submission creates the template at the authority, instead of changing it. */
export function isNewAtAuthority({
  external_id,
  missing_at_authority,
}: Pick<TemplateState, "external_id" | "missing_at_authority">): boolean {
  return external_id === null || missing_at_authority;
}

/** Ends a submission whose answer was lost. */
function resolveSubmission(state: TemplateState, reviewed: TemplateReview | undefined): TemplateState {
  if (state.submitting_since === null) {
    return state;
  }
  const submission = {
    external_id: isNewAtAuthority(state) ? null : state.external_id,
    template_data: state.template_data,
  };
  return reviewed && hasAccepted(submission, reviewed)
    ? acceptSubmission(state, reviewed.external_id)
    : cancelSubmission(state);
}

/**
 * A new template was accepted if the authority has it. A change was accepted if the template is in review or
 * has the new texts.
 */
export function hasAccepted(
  { external_id, template_data }: Pick<TemplateState, "external_id" | "template_data">,
  { status, version }: TemplateReview,
): boolean {
  return (
    external_id === null ||
    (status ?? "pending") === "pending" ||
    (version !== null && hasSameTexts(version, { template_data }))
  );
}

/**
 * The submitted version after a review: the authority may have changed the category, and the template's owner
 * the texts; our names and examples of variables are kept. Null if the authority has only a version that
 * can't be sent, because a draft of the same name was not reviewed.
 */
function toSubmitted(
  { submitted, category, template_data, variables }: TemplateState,
  reviewed: ReviewedTemplate,
): Version | null {
  const { version } = reviewed;
  if (submitted === null && version === null) {
    return null;
  }
  const known = submitted ?? { category, template_data, variables };
  const content = version === null || hasSameTexts(version, known) ? known : version;
  if (submitted && content === submitted && reviewed.category === submitted.category) {
    return submitted;
  }
  return { template_data: content.template_data, variables: content.variables, category: reviewed.category };
}

/**
 * Compares texts without the addresses of media, which the authority replaces, and without the names of
 * variables.
 */
export function hasSameTexts(
  one: { template_data: TemplateData },
  other: { template_data: TemplateData },
): boolean {
  return describe(one.template_data) === describe(other.template_data);
}

function isSameVersion(one: Version, other: Version): boolean {
  const namesOf = ({ variables }: Version) =>
    variables.map(({ name, component, button_index, example }) => [name, component, button_index, example]);
  const rest = (version: Version) =>
    JSON.stringify([version.category, version.template_data.header?.media_url, namesOf(version)]);
  return hasSameTexts(one, other) && rest(one) === rest(other);
}

function describe({
  header,
  body,
  footer,
  buttons = [],
  message_send_ttl_seconds: ttl,
  offer,
  cards = [],
  authentication,
}: TemplateData): string {
  const ofCards = cards.map((card) => [
    card.header.type,
    card.body,
    (card.buttons ?? []).map(describeButton),
  ]);
  const ofOffer = [offer?.text, offer?.has_expiration];
  const parts = buttons.map(describeButton);
  const { button, add_security_recommendation, code_expiration_minutes, apps } = authentication ?? {};
  const ofCodes = [button, add_security_recommendation, code_expiration_minutes, apps];
  const texts = [header?.type, header?.text, body, footer];
  return JSON.stringify([texts, parts, ttl, ofOffer, ofCards, ofCodes]);
}

/** The authority writes the text of a button that copies a code. */
function describeButton({ type, text, url, phone_number }: NonNullable<TemplateData["buttons"]>[number]) {
  return type === "copy_code" ? [type] : [type, text, url, phone_number];
}
