/**
 * Switches off flows whose creator has lost a scope that they need. This is a job, because the code that
 * finds such a flow has other rows locked. The active runs of the flow are cancelled, and an event names the
 * missing scopes.
 */
import { ofOrganization } from "../../../../database/query/index.ts";
import {
  type Change,
  defineJob,
  system,
  type Transaction,
  type World,
} from "../../../foundation/kernel/index.ts";
import { createSwitchOffJob, lostScopes, switchOffJobType } from "../authority/index.ts";
import { cancelRuns } from "../run/index.ts";
import { selectFlows } from "./find.ts";

export const switchOffJob = defineJob({
  ...switchOffJobType,

  async run({ organization_id, flow_id }, world) {
    await world.database.transaction((tx) => switchOff(tx, world, { organization_id, flow_id }));
    return undefined;
  },
});

async function switchOff(
  tx: Transaction,
  world: World,
  {
    organization_id: organization,
    flow_id: id,
  }: { readonly organization_id: string; readonly flow_id: string },
): Promise<void> {
  const now = world.now();
  const locked = await ofOrganization(tx, organization)
    .selectFrom("flows")
    .select("is_enabled")
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  // Read after the lock: the flow may have been saved again meanwhile.
  const flow = await selectFlows(tx, organization).where("flows.id", "=", id).executeTakeFirst();
  const missing_scopes = flow ? [...lostScopes(flow)] : [];
  if (!flow || !locked?.is_enabled || missing_scopes.length === 0) {
    return;
  }
  await ofOrganization(tx, organization)
    .updateTable("flows")
    .set({ is_enabled: false, next_run_at: null, updated_at: now.toISOString() })
    .where("id", "=", id)
    .execute();
  await cancelRuns(
    { tx, world, now, actor: system, organization },
    { reason: "authority_lost", flow_id: id },
  );
  tx.emit({
    type: "flow.disabled",
    organization_id: organization,
    order: id,
    data: { flow_id: id, name: flow.name, missing_scopes },
  });
}

/** Checks the flows that a user saved, after the user's role or state has changed. */
export async function checkFlowsOf(
  { tx }: Change,
  { organization, user_id }: { readonly organization: string; readonly user_id: string },
): Promise<void> {
  const flows = await ofOrganization(tx, organization)
    .selectFrom("flows")
    .select(["organization_id", "id as flow_id"])
    .where("creator_id", "=", user_id)
    .where("is_enabled", "=", true)
    .execute();
  await tx.enqueue(flows.map(createSwitchOffJob));
}
