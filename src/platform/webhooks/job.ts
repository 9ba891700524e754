/** The promise of one try: which delivery, and which of its turns. */
import type { NewJob } from "../../jobs/job.ts";

export const deliveryJobName = "webhook.deliver";

export interface DeliveryPayload {
  readonly organization_id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  /** A try that has been made or replaced is another turn's, so a job that comes twice does nothing twice. */
  readonly turn: number;
}

/** Tells one delivery from the others of a batch, whatever the turn. */
export function deliveryKey({
  webhook_id,
  event_id,
}: Pick<DeliveryPayload, "webhook_id" | "event_id">): string {
  return `${webhook_id} ${event_id}`;
}

/**
 * A lane for each webhook: one that hangs delays no other. With `order` it waits for what was told before of
 * the same; a retry is without, since otherwise one failure would keep back all that follows for days.
 */
export function createDeliveryJob(
  due: DeliveryPayload,
  { order, runAt }: { order?: string; runAt?: Date } = {},
): NewJob {
  const { organization_id, webhook_id } = due;
  return {
    name: deliveryJobName,
    payload: due,
    organization_id,
    lane: `webhook:${webhook_id}`,
    ...(order === undefined ? {} : { key: `webhook:${webhook_id}:${order}` }),
    ...(runAt === undefined ? {} : { runAt }),
  };
}
