/** How submitted templates are reviewed. */
import { z } from "zod";

export const ReviewSettings = z.strictObject({
  /** `hold` leaves templates pending until the controls decide. */
  outcome: z.enum(["approve", "reject", "hold"]).default("approve"),
  delay_ms: z.number().int().min(0).max(86_400_000).default(1_000),
  /** Of rejections. */
  reason: z.string().min(1).max(64).default("INVALID_FORMAT"),
});
export type ReviewSettings = z.output<typeof ReviewSettings>;
