/**
 * The states of a plan, as a pure function.
 *
 * ready → run | withdrawn | lapsed, and → expired at its time. A change of what it would do keeps it ready
 * and raises its version. The other states are final: nothing leaves them, so a plan runs at most once.
 */
import type { planStatuses } from "../../../../tools/plans.ts";

/** The statuses of the machine. A plan that waits for a person is ready, and a declined one is withdrawn. */
export type PlanStatus = Exclude<(typeof planStatuses)[number], "awaiting_approval" | "declined">;

export interface PlanState {
  readonly status: PlanStatus;
  readonly version: number;
  readonly expires_at: string;
}

export type PlanStep = "run" | "change" | "lapse" | "withdraw";

const after: Readonly<Record<PlanStep, PlanStatus>> = {
  run: "run",
  change: "ready",
  lapse: "lapsed",
  withdraw: "withdrawn",
};

/** The state at a time: a plan ends at its expiry, also before a job has recorded it. */
export function statusAt({ status, expires_at }: Omit<PlanState, "version">, now: Date): PlanStatus {
  return status === "ready" && Date.parse(expires_at) <= now.getTime() ? "expired" : status;
}

/** The state after a step; undefined if the plan can't take it. */
export function advancePlan(
  state: PlanState,
  step: PlanStep,
  now: Date,
): Pick<PlanState, "status" | "version"> | undefined {
  if (statusAt(state, now) !== "ready") {
    return undefined;
  }
  return { status: after[step], version: state.version + (step === "change" ? 1 : 0) };
}

/** The status as it is shown. */
export function shownStatus(
  plan: Omit<PlanState, "version"> & { readonly approval: "awaiting" | "released" | "declined" | null },
  now: Date,
): (typeof planStatuses)[number] {
  const status = statusAt(plan, now);
  if (status === "ready" && plan.approval === "awaiting") {
    return "awaiting_approval";
  }
  return status === "withdrawn" && plan.approval === "declined" ? "declined" : status;
}
