/** An act of the record, and the plan that its call became. */
import type { Answer } from "../service/call.ts";

export type Act = Answer<"list_activity">["data"][number];

/** The plan of a call that had to wait for a person. */
export function planOf({ outcome, ids }: Pick<Act, "outcome" | "ids">): string | undefined {
  return outcome === "waiting" ? ids.find((id) => id.startsWith("plan_")) : undefined;
}
