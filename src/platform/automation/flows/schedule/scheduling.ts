/** Whether a call lets a flow start by a schedule. */
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";

const operations = ["create_flow", "update_flow", "toggle_flow"];

/** Also a call that changes another part of a scheduled flow, unless the flow is disabled after it. */
export async function isSchedulingFlow(
  db: Queries,
  organization: string,
  { operation, input }: { readonly operation: string; readonly input: unknown },
): Promise<boolean> {
  if (!operations.includes(operation)) {
    return false;
  }
  const { id, is_enabled, trigger_type } = Object(input);
  const flow = id === undefined ? undefined : await findTrigger(db, organization, id);
  const wasEnabled = flow?.is_enabled ?? true;
  const isEnabled = is_enabled ?? (operation === "toggle_flow" ? !wasEnabled : wasEnabled);
  return isEnabled && (trigger_type ?? flow?.trigger_type) === "schedule";
}

const findTrigger = (db: Queries, organization: string, id: string) =>
  ofOrganization(db, organization)
    .selectFrom("flows")
    .select(["trigger_type", "is_enabled"])
    .where("id", "=", id)
    .executeTakeFirst();
