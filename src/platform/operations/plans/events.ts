/** The events of plans. */
import type { planEvents } from "../../../../tools/plan-events.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";

interface EventSubject {
  readonly organization_id: string;
  readonly id: string;
  readonly operation: string;
}

export function emitPlanEvent(
  tx: Transaction,
  type: keyof typeof planEvents,
  { organization_id, id: plan_id, operation }: EventSubject,
): void {
  tx.emit({ type, organization_id, order: plan_id, data: { plan_id, operation } });
}
