/** What is valid in a flow, and probably not what its author wants. */
import { sql } from "kysely";
import type { Queries } from "../../database/database.ts";
import type { FlowWithVersion } from "./find.ts";
import { type Problem, toGraph } from "./graph/index.ts";
import { splitKeywords } from "./keywords.ts";
import { handlerOf } from "./nodes/index.ts";
import { referencesOf } from "./references.ts";
import { configField, readConfig } from "./validate.ts";

/** Of a flow that is saved. */
export async function findWarnings(db: Queries, flow: FlowWithVersion): Promise<readonly Problem[]> {
  return [
    ...findNodeWarnings(flow),
    ...(await findIdleTeams(db, flow)),
    ...(await findMissingPolicies(db, flow)),
    ...(await findSharedKeywords(db, flow)),
  ];
}

function findNodeWarnings(flow: FlowWithVersion): readonly Problem[] {
  return toGraph(flow.nodes).nodes.flatMap((node) => {
    const { config } = readConfig(node);
    return config === undefined
      ? []
      : (handlerOf(node.node_type).warnings?.(config, configField(node)) ?? []);
  });
}

async function findIdleTeams(db: Queries, flow: FlowWithVersion): Promise<readonly Problem[]> {
  const references = referencesOf({ ...flow, graph: toGraph(flow.nodes) });
  const teams = references.filter(({ thing }) => thing === "team");
  if (teams.length === 0) {
    return [];
  }
  const { rows } = await sql<{ id: string; name: string; is_active: boolean; has_members: boolean }>`
    select id, name, is_active, exists (
      select from team_members
      where team_members.organization_id = teams.organization_id and team_id = teams.id and is_available
    ) as has_members
    from teams
    where organization_id = ${flow.organization_id} and id = any(${teams.map(({ id }) => id)}::text[])
  `.execute(db);
  return teams.flatMap(({ id, field }) => {
    const { name, is_active = true, has_members = true } = rows.find((row) => row.id === id) ?? {};
    const inactive = {
      ...{ field, code: "team_inactive" },
      message: `The team ${name} is not active, so no agent of it is chosen.`,
      fix: "Activate it with update_team.",
    };
    const empty = {
      ...{ field, code: "team_without_members" },
      message: `The team ${name} has no available member, so its conversations wait.`,
      fix: "Add members with add_team_member.",
    };
    return [...(is_active ? [] : [inactive]), ...(has_members ? [] : [empty])];
  });
}

/** Where an agent is to be found, and neither a target nor a policy says which. */
async function findMissingPolicies(db: Queries, flow: FlowWithVersion): Promise<readonly Problem[]> {
  const { nodes, end_action_type, end_action_config, organization_id } = flow;
  const fields = [
    ...toGraph(nodes).nodes.flatMap((node) => {
      const isOpen = node.node_type === "assign" && Object.keys(node.action_config).length === 0;
      return isOpen || node.node_type === "chatbot" ? configField(node) : [];
    }),
    ...(end_action_type === "handoff_chatbot" ? ["end_action_type"] : []),
    ...(end_action_type === "assign" && Object.keys(end_action_config).length === 0
      ? ["end_action_config"]
      : []),
  ];
  const policy =
    fields.length > 0 &&
    (await db
      .selectFrom("routing_policies")
      .select("id")
      .where("organization_id", "=", organization_id)
      .where("is_active", "=", true)
      .limit(1)
      .executeTakeFirst());
  return policy
    ? []
    : fields.map((field) => ({
        ...{ field, code: "no_routing_policy" },
        message: "No routing policy is active, so no agent is assigned when a person is needed.",
        fix: "Create a policy with create_routing_policy. The node assign can name a team_id or user_id instead.",
      }));
}

async function findSharedKeywords(db: Queries, flow: FlowWithVersion): Promise<readonly Problem[]> {
  const { organization_id, id, trigger_keyword, inbox_id } = flow;
  if (trigger_keyword === null || flow.trigger_match === "regex") {
    return [];
  }
  const others = await db
    .selectFrom("flows")
    .select(["name", "trigger_keyword"])
    .where("organization_id", "=", organization_id)
    .where("id", "<>", id)
    .where("is_enabled", "=", true)
    .where("trigger_keyword", "is not", null)
    .where("trigger_match", "<>", "regex")
    .$if(inbox_id !== null, (rows) =>
      rows.where(({ or, eb }) => or([eb("inbox_id", "is", null), eb("inbox_id", "=", inbox_id)])),
    )
    .orderBy("id")
    .execute();
  const own = splitKeywords(trigger_keyword);
  return others.flatMap((other) => {
    const shared = splitKeywords(other.trigger_keyword ?? "").filter((one) => own.includes(one));
    return shared.map((keyword) => ({
      ...{ field: "trigger_keyword", code: "keyword_in_use" },
      message: `The flow ${other.name} is started by ${keyword} too.`,
      fix: "Disable one of them with toggle_flow, or choose another keyword.",
    }));
  });
}
