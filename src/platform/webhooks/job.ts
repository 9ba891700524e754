/** The job of one delivery attempt. */
import type { NewJob } from "../../jobs/job.ts";

export const deliveryJobName = "webhook.deliver";

export interface DeliveryPayload {
  readonly organization_id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  /** The number of the attempt. The job does nothing if the delivery is at another turn, so it may be repeated. */
  readonly turn: number;
}

/** Identifies a delivery in a batch, regardless of its turn. */
export function deliveryKey({
  webhook_id,
  event_id,
}: Pick<DeliveryPayload, "webhook_id" | "event_id">): string {
  return `${webhook_id} ${event_id}`;
}

/**
 * Each webhook has its own lane, so a slow receiver delays no other. With `order`, the job waits for earlier
 * events of the same order; a retry has none, because one failing event would delay all later ones for days.
 */
export function createDeliveryJob(
  payload: DeliveryPayload,
  { order, runAt }: { order?: string; runAt?: Date } = {},
): NewJob {
  const { organization_id, webhook_id } = payload;
  return {
    name: deliveryJobName,
    payload,
    organization_id,
    lane: `webhook:${webhook_id}`,
    ...(order === undefined ? {} : { key: `webhook:${webhook_id}:${order}` }),
    ...(runAt === undefined ? {} : { runAt }),
  };
}
