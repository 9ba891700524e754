/** Reads flows with their present version, and shows them as the contract does. */
import { type Selectable, sql } from "kysely";
import { fail } from "../../../../../tools/errors.ts";
import type { ConnectionType, NodeType } from "../../../../../tools/flows/index.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import type { Role } from "../../../../ports/transport/caller.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import type { Keyword } from "../texts/keywords.ts";

export type FlowRow = Selectable<Tables["flows"]>;
export type VersionRow = Selectable<Tables["flow_versions"]>;
interface Creator {
  /**
   * The present role of the user who saved the version; null if there is no user, or the user was
   * deactivated.
   */
  readonly creator_role: Role | null;
}
export type FlowWithVersion = FlowRow & Omit<VersionRow, "flow_id"> & Creator;

/** The keyword that starts a flow; empty for other triggers. */
export function keywordOf({
  trigger_keyword,
  trigger_match,
}: Pick<FlowRow, "trigger_keyword" | "trigger_match">): Keyword {
  return { keyword: trigger_keyword ?? "", match: trigger_match ?? "word" };
}

/** Used in queries of flows. */
export const creatorRole = sql<Role | null>`(
  select role from users
  where users.organization_id = flows.organization_id and users.id = flows.creator_id and users.is_active
)`;

/** Selects flows with the version that new runs use. */
export function selectFlows(db: Queries, organization: string) {
  return ofOrganization(db, organization)
    .selectFrom("flows")
    .innerJoin("flow_versions", (join) =>
      join
        .onRef("flow_versions.organization_id", "=", "flows.organization_id")
        .onRef("flow_versions.flow_id", "=", "flows.id")
        .onRef("flow_versions.version", "=", "flows.version"),
    )
    .selectAll("flows")
    .select(creatorRole.as("creator_role"))
    .select([
      "flow_versions.nodes",
      "flow_versions.end_action_type",
      "flow_versions.end_action_config",
      "flow_versions.is_interactive",
    ]);
}

/** @throws Failure `flow_not_found`. */
export async function getFlow(db: Queries, organization: string, id: string): Promise<FlowWithVersion> {
  const flow = await selectFlows(db, organization).where("flows.id", "=", id).executeTakeFirst();
  if (!flow) {
    throw fail("flow_not_found");
  }
  return flow;
}

/** Locks the flow until the commit. @throws Failure `flow_not_found`. */
export async function lockFlow(tx: Transaction, organization: string, id: string): Promise<FlowWithVersion> {
  await ofOrganization(tx, organization)
    .selectFrom("flows")
    .select("id")
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  // Read after the lock: the version may have changed while this transaction waited for it.
  return getFlow(tx, organization, id);
}

export function serializeFlow({ nodes, cohort_id, trigger_tag, ...flow }: FlowWithVersion) {
  return {
    ...flow,
    settings: { cohort_id, tag: trigger_tag },
    needs_review: flow.scopes === null,
    nodes: nodes.map((node) => ({
      ...node,
      // The contract validated these values when they were saved.
      node_type: node.node_type as NodeType,
      connection_type: node.connection_type as ConnectionType,
    })),
  };
}
