/** The review of templates on the simulated channel: how it decides, and verdicts by hand. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { attempt } from "../../controls/attempt.ts";
import { listen } from "../../live/live.ts";
import { createRefresher } from "../../live/refresh.ts";
import { describeError } from "../../service/describe-error.ts";
import { isTemporary } from "../../service/errors.ts";
import { texts } from "../../texts.ts";
import { mayDo } from "../available.ts";
import {
  decideTemplate,
  type ReviewedTemplate,
  type ReviewSettings,
  readReviews,
  replaceReviewSettings,
} from "../simulator.ts";

const words = texts.playground.reviews;
const outcomes = ["approve", "reject", "hold"] as const;
const reasons = [
  "INVALID_FORMAT",
  "TAG_CONTENT_MISMATCH",
  "PROMOTIONAL",
  "SCAM",
  "ABUSIVE_CONTENT",
  "INCORRECT_CATEGORY",
] as const;

type Verdict = Parameters<typeof decideTemplate>[0]["outcome"];

/** The verdicts that make sense for a template in this state; for any other state it can be approved. */
const verdicts: Readonly<Record<string, readonly Verdict[]>> = {
  PENDING: ["approve", "reject"],
  APPROVED: ["pause", "disable", "reject"],
};

/** The authority decides by itself, and a change may not be reported. */
const pollMs = 2_000;

export function ReviewPanel() {
  return mayDo("templates:read") ? <Reviews /> : null;
}

function Reviews() {
  const state = useSignal<Awaited<ReturnType<typeof readReviews>> | null>(null);
  const problem = useSignal("");
  const refresh = useMemo(() => {
    const read = async () => {
      try {
        const reviews = await readReviews();
        if (JSON.stringify(reviews) !== JSON.stringify(state.value)) {
          state.value = reviews;
        }
        problem.value = "";
        return true;
      } catch (error) {
        problem.value = describeError(error);
        return !isTemporary(error);
      }
    };
    return createRefresher(read, { delayMs: 100 });
  }, []);
  useEffect(() => {
    refresh.start();
    const timer = setInterval(refresh, pollMs);
    const stopListening = listen((event) => {
      if (event === "resync" || event.type.startsWith("template.")) {
        refresh();
      }
    });
    return () => {
      clearInterval(timer);
      stopListening();
      refresh.stop();
    };
  }, []);
  const act = (run: () => Promise<unknown>) =>
    attempt(async () => {
      await run();
      refresh();
    });
  const mayDecide = mayDo("templates:manage");
  return (
    <section class="stack control-group">
      <h2>{words.title}</h2>
      {problem.value !== "" && <p class="notice bad">{problem.value}</p>}
      {!mayDecide && <p class="notice">{words.notPermitted}</p>}
      {state.value !== null && (
        <>
          {mayDecide && (
            <Settings
              review={state.value.review}
              onChange={(review) => {
                if (state.value !== null) {
                  // At once: a rejection that follows has the reason that is shown.
                  state.value = { ...state.value, review };
                }
                void act(() => replaceReviewSettings(review));
              }}
            />
          )}
          {state.value.templates.length === 0 && <p class="small muted">{words.empty}</p>}
          <ul class="stack">
            {state.value.templates.map((template) => (
              <TemplateRow
                key={template.external_id}
                template={template}
                canDecide={mayDecide}
                onDecide={(outcome) => {
                  const { name, language, phone_number } = template;
                  const reason = outcome === "reject" ? { reason: state.value?.review.reason } : {};
                  void act(() => decideTemplate({ name, language, phone_number, outcome, ...reason }));
                }}
              />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

interface SettingsProps {
  readonly review: ReviewSettings;
  readonly onChange: (settings: ReviewSettings) => void;
}

function Settings({ review, onChange }: SettingsProps) {
  const known = reasons.some((reason) => reason === review.reason);
  return (
    <>
      <label>
        {words.outcome}
        <select
          value={review.outcome}
          onChange={({ currentTarget }) => {
            const outcome = outcomes.find((each) => each === currentTarget.value) ?? "approve";
            onChange({ ...review, outcome });
          }}
        >
          {outcomes.map((outcome) => (
            <option key={outcome} value={outcome}>
              {words.outcomes[outcome]}
            </option>
          ))}
        </select>
      </label>
      <label>
        {words.reason}
        <select
          value={review.reason}
          onChange={({ currentTarget }) => onChange({ ...review, reason: currentTarget.value })}
        >
          {(known ? reasons : [review.reason, ...reasons]).map((reason) => (
            <option key={reason} value={reason}>
              {reason}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

interface RowProps {
  readonly template: ReviewedTemplate;
  readonly canDecide: boolean;
  readonly onDecide: (outcome: Verdict) => void;
}

function TemplateRow({ template, canDecide, onDecide }: RowProps) {
  const { name, language, phone_number, status, rejection_reason } = template;
  return (
    <li class="stack" data-template={name}>
      <span class="row">
        <strong>{name}</strong>
        <span class="chip">{words.statuses[status] ?? status}</span>
      </span>
      <span class="small muted">
        {[language, phone_number, ...(rejection_reason === null ? [] : [rejection_reason])].join(" · ")}
      </span>
      {canDecide && (
        <span class="row">
          {(verdicts[status] ?? ["approve"]).map((verdict) => (
            <button
              type="button"
              key={verdict}
              aria-label={words.decide(words.verdicts[verdict], name, language)}
              onClick={() => onDecide(verdict)}
            >
              {words.verdicts[verdict]}
            </button>
          ))}
        </span>
      )}
    </li>
  );
}
