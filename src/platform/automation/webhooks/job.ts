/** The job of one delivery attempt. */
import { z } from "zod";
import { type JobType, type NewJob, newJob } from "../../../jobs/job.ts";

const DeliveryPayload = z.object({
  organization_id: z.string(),
  webhook_id: z.string(),
  event_id: z.string(),
  /**
   * The number of the attempt. The job does nothing if the delivery is at another turn, so the job may be
   * repeated.
   */
  turn: z.int(),
});

export type DeliveryPayload = Readonly<z.infer<typeof DeliveryPayload>>;

/** The kind of job that `deliverWebhookJob` runs. */
export const deliveryJobType = {
  name: "webhook.deliver",
  payload: DeliveryPayload,
} satisfies JobType<DeliveryPayload>;

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
  const { webhook_id } = payload;
  return newJob(deliveryJobType, payload, {
    lane: `webhook:${webhook_id}`,
    ...(order === undefined ? {} : { key: `webhook:${webhook_id}:${order}` }),
    ...(runAt === undefined ? {} : { runAt }),
  });
}
