/** The states of a template, with changes, submissions and words of the authority in any order. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { reviewStatusOf } from "../src/adapters/channel/review-status.ts";
import {
  acceptSubmission,
  applyReview,
  beginSubmission,
  cancelSubmission,
  createState,
  edit,
  findEditLimit,
  isEditable,
  isNewAtAuthority,
  isSendable,
  markMissing,
  type TemplateReview,
  type TemplateState,
} from "../src/platform/content/templates/states.ts";
import { randomRuns } from "./support/iterations.ts";

const hourMs = 3_600_000;
const versionOf = (body: string) => ({
  category: "utility" as const,
  template_data: { body: `Hello, ${body}.` },
  variables: [],
});
const draft = createState(versionOf("a"));

const reviewOf = (raw_status: string, state: TemplateState, body?: string): TemplateReview => ({
  external_id: state.external_id ?? "1",
  name: "greeting",
  language: "en",
  raw_status,
  status: reviewStatusOf(raw_status),
  rejection_reason: raw_status === "REJECTED" ? "SCAM" : null,
  quality_rating: "GREEN",
  category: "utility",
  version: body === undefined ? null : versionOf(body),
});

/**
 * A template with what is needed to check it: the time, and when changes of an approved
 * version were accepted.
 */
interface Model {
  readonly state: TemplateState;
  readonly now: Date;
  readonly acceptedEdits: readonly number[];
  /** The text of the last change. */
  readonly body: string;
}

type Step =
  | { readonly type: "edit"; readonly body: string }
  | { readonly type: "submit" | "accept" | "cancel" | "missing" }
  | { readonly type: "review"; readonly raw: string; readonly body: string | undefined }
  | { readonly type: "wait"; readonly hours: number };

/** Each operation with the conditions under which the service runs it; otherwise it is rejected. */
const run: { readonly [Type in Step["type"]]: (model: Model, step: Extract<Step, { type: Type }>) => Model } =
  {
    edit: (model, { body }) =>
      isEditable(model.state)
        ? { ...model, state: edit(model.state, versionOf(body)), body: versionOf(body).template_data.body }
        : model,
    submit: (model) =>
      model.state.status === "draft" && !findEditLimit(model.state, model.now)
        ? { ...model, state: beginSubmission(model.state, model.now) }
        : model,
    accept: (model) => {
      const { state } = model;
      const isEdit = state.review_status === "approved";
      return state.submitting_since === null
        ? model
        : {
            ...model,
            state: acceptSubmission(state, state.external_id ?? "1"),
            acceptedEdits: isEdit
              ? [...model.acceptedEdits, Date.parse(state.submitting_since)]
              : model.acceptedEdits,
          };
    },
    cancel: (model) =>
      model.state.submitting_since === null ? model : { ...model, state: cancelSubmission(model.state) },
    missing: (model) =>
      model.state.external_id === null && model.state.submitting_since === null
        ? model
        : { ...model, state: markMissing(model.state) },
    review: (model, { raw, body }) => {
      const { state } = model;
      // The authority has nothing before the first submission.
      if (state.external_id === null && state.submitting_since === null) {
        return model;
      }
      const after = applyReview(state, reviewOf(raw, state, body));
      const isAcceptedEdit = after.edits_submitted_at !== state.edits_submitted_at;
      return {
        ...model,
        state: after,
        acceptedEdits: isAcceptedEdit
          ? [...model.acceptedEdits, Date.parse(state.submitting_since ?? "")]
          : model.acceptedEdits,
      };
    },
    wait: (model, { hours }) => ({ ...model, now: new Date(model.now.getTime() + hours * hourMs) }),
  };

const words = [
  "PENDING",
  "APPROVED",
  "REJECTED",
  "PAUSED",
  "DISABLED",
  "IN_APPEAL",
  "FLAGGED",
  "SOMETHING_NEW",
];
const bodies = ["a", "b", "c"];
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant("edit" as const), body: fc.constantFrom(...bodies) }),
  fc.record({
    type: fc.constantFrom("submit" as const, "submit" as const, "accept" as const, "accept" as const),
  }),
  fc.record({ type: fc.constantFrom("cancel" as const, "missing" as const) }),
  fc.record({
    type: fc.constant("review" as const),
    raw: fc.constantFrom("APPROVED", ...words),
    body: fc.constantFrom(undefined, ...bodies),
  }),
  fc.record({ type: fc.constant("wait" as const), hours: fc.constantFrom(1, 13, 25) }),
);

/** `run` has a function for every type of step; TypeScript does not connect a step with its own function. */
const apply = (model: Model, one: Step): Model => run[one.type](model, one as never);

/** The rules that hold in every state. */
function isLegal({ state, acceptedEdits, body }: Model): boolean {
  const { status, review_status, submitted, submitting_since, external_id, rejection_reason } = state;
  const isSubmitting = submitting_since !== null;
  const lastDay = acceptedEdits.filter((time) => time > (acceptedEdits.at(-1) ?? 0) - 24 * hourMs);
  const lastMonth = acceptedEdits.filter((time) => time > (acceptedEdits.at(-1) ?? 0) - 30 * 24 * hourMs);
  return [
    // A submission runs only in a pending template.
    !isSubmitting || status === "pending",
    // Before the first accepted submission there is nothing at the authority, and nothing to send.
    (review_status === null) === (submitted === null),
    (external_id === null) === (submitted === null),
    // Only a draft, and a template in submission, differ from what the authority has.
    status === "draft" || isSubmitting || status === review_status,
    status === "draft" || isSubmitting || state.template_data.body === submitted?.template_data.body,
    // Only the caller changes a draft.
    (status !== "draft" && !isSubmitting) || state.template_data.body === body,
    // What is sent was approved.
    !isSendable(state) || (review_status === "approved" && (status === "approved" || status === "draft")),
    rejection_reason === null || review_status === "rejected",
    lastDay.length <= 1,
    lastMonth.length <= 10,
  ].every(Boolean);
}

test("100,000 random sequences reach no illegal state", () => {
  const start: Model = {
    state: draft,
    now: new Date("2030-01-01T00:00:00.000Z"),
    acceptedEdits: [],
    body: draft.template_data.body,
  };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30, size: "max" }), (steps) => {
      let model = start;
      return steps.every((one) => {
        const before = model.state;
        model = apply(model, one);
        // The authority's word does not end a draft.
        const isKept = before.status !== "draft" || one.type !== "review" || model.state.status === "draft";
        const isMoved = before.status === "pending" && model.state.status !== "pending";
        // A pending template changes its status only by its submission's end and by the authority.
        const isAllowed = !isMoved || ["accept", "cancel", "missing", "review"].includes(one.type);
        return isKept && isAllowed && isLegal(model);
      });
    }),
    randomRuns(5_000, 100_000),
  );
});

const approved = applyReview(
  acceptSubmission(beginSubmission(draft, new Date("2030-01-01T00:00:00Z")), "1"),
  reviewOf("APPROVED", draft, "a"),
);

test("the approved version is sent until its change is submitted, and the change once it is approved", () => {
  const changed = edit(approved, versionOf("b"));
  expect(changed).toMatchObject({ status: "draft", submitted: versionOf("a") });
  expect(isSendable(changed)).toBe(true);
  const submitting = beginSubmission(changed, new Date("2030-01-02T00:00:00Z"));
  expect(isSendable(submitting)).toBe(false);
  const pending = acceptSubmission(submitting, "1");
  expect(isSendable(pending)).toBe(false);
  const again = applyReview(pending, reviewOf("APPROVED", pending, "b"));
  expect(again).toMatchObject({ status: "approved", submitted: versionOf("b") });
  expect(isSendable(again)).toBe(true);
});

test("a change that the authority does not accept leaves the approved version in use", () => {
  const changed = beginSubmission(edit(approved, versionOf("b")), new Date("2030-01-02T00:00:00Z"));
  const cancelled = cancelSubmission(changed);
  expect(cancelled).toMatchObject({
    status: "draft",
    submitted: versionOf("a"),
    template_data: versionOf("b").template_data,
  });
  expect(isSendable(cancelled)).toBe(true);
});

test("a submission whose answer was lost is found by its text, or by being in review", () => {
  const submitting = beginSubmission(edit(approved, versionOf("b")), new Date("2030-01-02T00:00:00Z"));
  const seen = (raw: string, body: string) => applyReview(submitting, reviewOf(raw, submitting, body));
  expect(seen("APPROVED", "b")).toMatchObject({ status: "approved", submitted: versionOf("b") });
  expect(seen("PENDING", "a")).toMatchObject({ status: "pending", submitting_since: null });
  expect(seen("APPROVED", "a")).toMatchObject({
    status: "draft",
    submitted: versionOf("a"),
    submitting_since: null,
  });
  const first = beginSubmission(draft, new Date("2030-01-02T00:00:00Z"));
  expect(applyReview(first, reviewOf("REJECTED", first, "a"))).toMatchObject({
    status: "rejected",
    external_id: "1",
    rejection_reason: "SCAM",
  });
  expect(markMissing(first)).toEqual(draft);
});

test("a word that is not known leaves the status, and is kept", () => {
  const changed = applyReview(approved, reviewOf("SOMETHING_NEW", approved, "a"));
  expect(changed).toMatchObject({ status: "approved", raw_status: "SOMETHING_NEW" });
});

test("the authority's category and text replace ours, the names of variables stay", () => {
  const review = { ...reviewOf("APPROVED", approved, "elsewhere"), category: "marketing" as const };
  expect(applyReview(approved, review)).toMatchObject({
    category: "marketing",
    template_data: versionOf("elsewhere").template_data,
    submitted: { category: "marketing", template_data: versionOf("elsewhere").template_data },
  });
});

test("a change back to what the authority has ends the draft", () => {
  const changed = edit(edit(approved, versionOf("b")), versionOf("a"));
  expect(changed).toEqual(approved);
});

test("a template that the authority lost is a draft after a change, and is submitted as a new one", () => {
  const draftAgain = edit(markMissing(approved), versionOf("a"));
  expect(draftAgain.status).toBe("draft");
  const submitting = beginSubmission(draftAgain, new Date("2030-01-02T00:00:00Z"));
  expect(isNewAtAuthority(submitting)).toBe(true);
  const accepted = acceptSubmission(submitting, "2");
  expect(accepted).toMatchObject({ status: "pending", external_id: "2", missing_at_authority: false });
  expect(markMissing(submitting)).toEqual(draftAgain);
});

test("a template that is missing at the authority can't be sent, and can again once it is back", () => {
  const missing = markMissing(approved);
  expect(isSendable(missing)).toBe(false);
  expect(isSendable(applyReview(missing, reviewOf("APPROVED", approved, "a")))).toBe(true);
});

test("an approved template is changed once a day and ten times in 30 days", () => {
  const at = (hours: number) => new Date(Date.parse("2030-01-01T00:00:00Z") + hours * hourMs);
  let state = approved;
  for (let day = 0; day < 10; day += 1) {
    expect(findEditLimit(state, at(day * 25))).toBeUndefined();
    state = acceptSubmission(
      beginSubmission(edit(state, versionOf(bodies[day % 3] ?? "")), at(day * 25)),
      "1",
    );
    state = applyReview(state, reviewOf("APPROVED", state));
    expect(findEditLimit(state, at(day * 25 + 1))?.getTime()).toBeGreaterThan(at(day * 25 + 1).getTime());
  }
  expect(findEditLimit(state, at(10 * 25))).toEqual(at(30 * 24));
  expect(findEditLimit(state, at(30 * 24))).toBeUndefined();
});
