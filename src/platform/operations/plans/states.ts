/**
 * The states of a plan, as a pure function.
 *
 * ready → run | withdrawn | lapsed, and → expired at its time. A change of what it would do keeps it ready
 * and raises its version. A plan with many targets or with files elsewhere is preparing before it is ready,
 * also after a change; preparing → ready | failed | withdrawn, and → expired at its time. If the operation
 * calls a third party, ready → running → run | failed, and back to ready if the third party did not accept
 * the call. The other states are final: nothing leaves them, so a plan runs at most once.
 */
import type { planStatuses } from "../../../../tools/plans.ts";

/**
 * The statuses of the machine. A plan that waits for a person, or for the time of its release, is ready, and
 * a declined one is withdrawn.
 */
export type PlanStatus = Exclude<
  (typeof planStatuses)[number],
  "awaiting_approval" | "released" | "declined"
>;

export interface PlanState {
  readonly status: PlanStatus;
  readonly version: number;
  readonly expires_at: string;
}

export type PlanStep =
  | "run"
  | "change"
  | "prepare"
  | "freeze"
  | "abandon"
  | "lapse"
  | "withdraw"
  | "begin"
  | "finish"
  | "fail"
  | "reopen";

const open = ["ready", "preparing"] as const;

const transitions: Readonly<Record<PlanStep, readonly [from: readonly PlanStatus[], to: PlanStatus]>> = {
  run: [["ready"], "run"],
  change: [open, "ready"],
  /** A change after which a job prepares the plan. */
  prepare: [open, "preparing"],
  freeze: [["preparing"], "ready"],
  abandon: [["preparing"], "failed"],
  lapse: [["ready"], "lapsed"],
  withdraw: [open, "withdrawn"],
  begin: [["ready"], "running"],
  finish: [["running"], "run"],
  fail: [["running"], "failed"],
  reopen: [["running"], "ready"],
};

/** The state at a time: a plan ends at its expiry, also before a job has recorded it. */
export function statusAt({ status, expires_at }: Omit<PlanState, "version">, now: Date): PlanStatus {
  const isOpen = open.some((one) => one === status);
  return isOpen && Date.parse(expires_at) <= now.getTime() ? "expired" : status;
}

/** The state after a step; undefined if the plan can't take it. */
export function advancePlan(
  state: PlanState,
  step: PlanStep,
  now: Date,
): Pick<PlanState, "status" | "version"> | undefined {
  const [from, to] = transitions[step];
  if (!from.includes(statusAt(state, now))) {
    return undefined;
  }
  const isChange = step === "change" || step === "prepare";
  return { status: to, version: state.version + (isChange ? 1 : 0) };
}

/** A plan as it is stored. */
interface StoredPlan {
  readonly status: Exclude<PlanStatus, "preparing" | "running" | "failed">;
  readonly expires_at: string;
  readonly ended_at: string | null;
  readonly result_status: number | null;
  /** Null unless the plan is being prepared. */
  readonly preparation: unknown;
  readonly approval: "awaiting" | "released" | "declined" | null;
  readonly run_at: string | null;
}

/**
 * The status of the machine: a running, a failed and a preparing plan are stored as `run`, because processes
 * of earlier versions know no other status of a plan that they may not run.
 */
export function planStatusOf(plan: Omit<StoredPlan, "approval" | "run_at">): PlanStatus {
  const { status, ended_at, result_status, preparation } = plan;
  if (status !== "run") {
    return status;
  }
  if (ended_at === null) {
    return preparation === null ? "running" : "preparing";
  }
  return (result_status ?? 0) >= 400 ? "failed" : "run";
}

/** The status as it is stored. */
export function toStoredStatus(status: PlanStatus): StoredPlan["status"] {
  return status === "preparing" || status === "running" || status === "failed" ? "run" : status;
}

/** The status as it is shown. */
export function shownStatus(plan: StoredPlan, now: Date): (typeof planStatuses)[number] {
  const status = statusAt({ status: planStatusOf(plan), expires_at: plan.expires_at }, now);
  if (status === "ready" && plan.approval === "awaiting") {
    return plan.run_at === null ? "awaiting_approval" : "released";
  }
  return status === "withdrawn" && plan.approval === "declined" ? "declined" : status;
}
