/** Whether a call lets a flow start by a schedule. */
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";

const operations = ["create_flow", "update_flow", "toggle_flow"];

/** Also a call that changes another part of a scheduled flow, unless it disables the flow. */
export async function isSchedulingFlow(
  db: Queries,
  organization: string,
  { operation, input }: { readonly operation: string; readonly input: unknown },
): Promise<boolean> {
  const { id, is_enabled, trigger_type } = Object(input);
  if (!operations.includes(operation) || is_enabled === false) {
    return false;
  }
  const trigger = trigger_type ?? (await findTriggerType(db, organization, id));
  return trigger === "schedule";
}

async function findTriggerType(db: Queries, organization: string, id: string) {
  const flow = await ofOrganization(db, organization)
    .selectFrom("flows")
    .select("trigger_type")
    .where("id", "=", id)
    .executeTakeFirst();
  return flow?.trigger_type;
}
