/** Which acts the page shows. Its address has the filter. */
import type { Input } from "../service/call.ts";

export interface ActFilter {
  readonly by: string;
  readonly operation: string;
  readonly contact_id: string;
  readonly outcome: string;
}

export const outcomes = ["done", "waiting", "refused"] as const;

export function readActFilter(query: Readonly<Record<string, string | undefined>>): ActFilter {
  const { by = "", operation = "", contact_id = "", outcome = "" } = query;
  return { by, operation, contact_id, outcome: outcomes.find((each) => each === outcome) ?? "" };
}

const entriesOf = (filter: ActFilter) => Object.entries(filter).filter(([, value]) => value !== "");

/** The address of the page with the filter. */
export function addressOf(filter: ActFilter): string {
  const entries = entriesOf(filter);
  return `/console/activity${entries.length === 0 ? "" : `?${new URLSearchParams(entries)}`}`;
}

export function inputOf(filter: ActFilter): Input<"list_activity"> {
  return Object.fromEntries(entriesOf(filter));
}
