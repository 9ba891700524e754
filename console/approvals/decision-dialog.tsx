/** Asks once more before a plan is approved or declined, and shows what has changed since it was read. */
import { useSignal } from "@preact/signals";
import { Dialog } from "../controls/dialog.tsx";
import { showToast } from "../controls/toast.tsx";
import { call } from "../service/call.ts";
import { describeError } from "../service/describe-error.ts";
import { ServiceError } from "../service/errors.ts";
import { useOnce } from "../service/use-once.ts";
import { texts } from "../texts.ts";
import { findChanges } from "./changes.ts";
import type { Plan } from "./plan-list.ts";

interface Props {
  readonly step: "approve" | "decline";
  readonly plan: Plan;
  /** In words; null without one. */
  readonly price: string | null;
  readonly onChange: (plan: Plan) => void;
  /** Called after the decision: the button that opened the dialog is gone. */
  readonly onDecided: () => void;
  readonly onClose: () => void;
}

export function DecisionDialog({ step, plan, price, onChange, onDecided, onClose }: Props) {
  /** What the person has read in this dialog. */
  const shown = useSignal(plan);
  const former = useSignal<Plan | null>(null);
  const problem = useSignal("");
  const isBusy = useSignal(false);
  const reason = useSignal("");
  const runAt = useSignal("");
  const once = useOnce([step, shown.value.hash, reason.value, runAt.value]);

  const send = async () => {
    isBusy.value = true;
    problem.value = "";
    try {
      const decision = { reason: reason.value.trim(), runAt: runAt.value };
      const next = await once((options) => decide(step, shown.value, { ...decision, ...options }));
      onChange(next);
      showToast(texts.approvals.done[next.status] ?? texts.approvals.statuses[next.status]);
      onClose();
      onDecided();
    } catch (error) {
      const changed = changedPlan(error);
      if (changed) {
        [former.value, shown.value] = [shown.value, changed];
        onChange(changed);
      }
      problem.value = changed ? texts.approvals.changed : describeError(error);
    } finally {
      isBusy.value = false;
    }
  };
  const isApproval = step === "approve";
  return (
    <Dialog
      title={isApproval ? texts.approvals.approveTitle : texts.approvals.declineTitle}
      onClose={onClose}
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy.value) {
            void send();
          }
        }}
      >
        <p>
          <strong>{shown.value.summary}</strong>
        </p>
        {isApproval && <p>{describeConsequence(shown.value, price)}</p>}
        {problem.value !== "" && (
          <p class="notice bad" role="alert">
            {problem.value}
          </p>
        )}
        {former.value !== null && <Changes before={former.value} after={shown.value} />}
        <label>
          {texts.approvals.reasonLabel}
          <input
            value={reason.value}
            maxLength={1000}
            onInput={({ currentTarget }) => (reason.value = currentTarget.value)}
          />
        </label>
        {isApproval && (
          <label>
            {texts.approvals.later}
            <input
              type="datetime-local"
              value={runAt.value}
              onInput={({ currentTarget }) => (runAt.value = currentTarget.value)}
            />
          </label>
        )}
        <div class="row">
          <button type="submit" class="primary" aria-disabled={isBusy.value} aria-busy={isBusy.value}>
            {isApproval ? texts.approvals.approveNow : texts.approvals.declineNow}
          </button>
          <button type="button" onClick={onClose}>
            {texts.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface Decision {
  readonly idempotencyKey: string;
  readonly reason: string;
  /** As the field of a local time has it; empty: now. */
  readonly runAt: string;
}

async function decide(
  step: Props["step"],
  { id, hash }: Plan,
  { idempotencyKey, reason, runAt }: Decision,
): Promise<Plan> {
  const input = { id, hash, ...(reason === "" ? {} : { reason }) };
  if (step === "decline") {
    return (await call("decline_plan", input, { idempotencyKey })).data;
  }
  const later = runAt === "" ? {} : { run_at: new Date(runAt).toISOString() };
  return (await call("approve_plan", { ...input, ...later }, { idempotencyKey })).data.plan;
}

/** The new plan, if the error says that it has changed. */
function changedPlan(error: unknown): Plan | undefined {
  if (error instanceof ServiceError && error.code === "plan_changed") {
    return error.facts.plan as Plan; // as the error's entry in the catalogue says
  }
  return undefined;
}

function describeConsequence({ recipient_count }: Plan, price: string | null): string {
  const { consequence, consequencePrice } = texts.approvals;
  return consequence(recipient_count, price === null ? "" : consequencePrice(price));
}

function Changes({ before, after }: { before: Plan; after: Plan }) {
  return (
    <dl class="changes">
      {findChanges(before, after).map((change) => (
        <div key={change.name}>
          <dt>{change.name}</dt>
          <dd>
            <span class="small muted">{texts.approvals.before}</span>
            <del>{change.before}</del>
            <span class="small muted">{texts.approvals.after}</span>
            <ins>{change.after}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}
