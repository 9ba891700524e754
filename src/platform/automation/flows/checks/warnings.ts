/** Finds what is valid in a flow, but probably not what its author wants. */
import { sql } from "kysely";
import { nodes } from "../../../../../tools/flows/index.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { isSendable } from "../../../content/templates/index.ts";
import { findIdleTeams } from "../../../inbox/teams/index.ts";
import type { FlowWithVersion } from "../definitions/find.ts";
import { type Problem, toGraph } from "../graph/index.ts";
import { handlerOf } from "../nodes/index.ts";
import { splitKeywords } from "../texts/keywords.ts";
import { referencesOf } from "./references.ts";
import { configField, readNodeConfig } from "./validate.ts";

/** Warnings for a saved flow. */
export async function findFlowWarnings(
  db: Queries,
  flow: FlowWithVersion,
  now: Date,
): Promise<readonly Problem[]> {
  const references = referencesOf({ ...flow, graph: toGraph(flow.nodes) }).filter(
    ({ thing }) => thing === "team",
  );
  return [
    ...findNodeWarnings(flow),
    ...(await findIdleTeams(db, flow.organization_id, { references, now })),
    ...(await findMissingPolicies(db, flow)),
    ...(await findSharedKeywords(db, flow)),
    ...(await findUnsendableTemplates(db, flow)),
  ];
}

function findNodeWarnings(flow: FlowWithVersion): readonly Problem[] {
  return toGraph(flow.nodes).nodes.flatMap((node) => {
    const { config } = readNodeConfig(node);
    return config === undefined
      ? []
      : (handlerOf(node.node_type).warnings?.(config, configField(node)) ?? []);
  });
}

/** Places where an agent is requested, but neither a target nor a policy says which agent. */
async function findMissingPolicies(db: Queries, flow: FlowWithVersion): Promise<readonly Problem[]> {
  const { end_action_type, end_action_config, organization_id } = flow;
  const fields = [
    ...toGraph(flow.nodes).nodes.flatMap((node) => {
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
    (await ofOrganization(db, organization_id)
      .selectFrom("routing_policies")
      .select("id")
      .where("is_active", "=", true)
      .limit(1)
      .executeTakeFirst());
  return policy
    ? []
    : fields.map((field) => ({
        field,
        code: "no_routing_policy",
        message: "No routing policy is active, so no agent is assigned when a person is needed.",
        fix: "Name a team_id or user_id in the node assign, or ask before you create a policy with create_routing_policy.",
      }));
}

/** Templates that can't be sent now: their nodes fail until the templates are approved. */
async function findUnsendableTemplates(db: Queries, flow: FlowWithVersion): Promise<readonly Problem[]> {
  const wanted = toGraph(flow.nodes).nodes.flatMap((node) => {
    const { config } = node.node_type === "send_template" ? readNodeConfig(node) : {};
    return config === undefined ? [] : [{ ...nodes.send_template.config.parse(config), node }];
  });
  if (wanted.length === 0) {
    return [];
  }
  const names = wanted.flatMap(({ name }) => name?.toLowerCase() ?? []);
  const ids = wanted.flatMap(({ template_id }) => template_id ?? []);
  const stored = await ofOrganization(db, flow.organization_id)
    .selectFrom("templates")
    .selectAll()
    .where(sql<boolean>`(lower(name) = any(${names}::text[]) or id = any(${ids}::text[]))`)
    .execute();
  return wanted.flatMap(({ node, template_id, name, language }) => {
    const known = stored.filter((one) =>
      template_id === undefined
        ? one.name.toLowerCase() === name?.toLowerCase() && one.language === language
        : one.id === template_id,
    );
    const usable = known.filter(({ inbox_id }) => flow.inbox_id === null || inbox_id === flow.inbox_id);
    const [field, label] =
      template_id === undefined ? ["name", `${name} in ${language}`] : ["template_id", template_id];
    const message =
      known.length === 0
        ? `There is no template ${label}, so this node fails.`
        : `The template ${label} is not approved for this flow's inbox, so this node fails.`;
    const fix = "Find the approved ones with list_templates, or submit it with submit_template.";
    const code = known.length === 0 ? "unknown_template" : "template_not_approved";
    return usable.some(isSendable) ? [] : [{ field: `${configField(node)}.${field}`, code, message, fix }];
  });
}

async function findSharedKeywords(db: Queries, flow: FlowWithVersion): Promise<readonly Problem[]> {
  const { organization_id, id, trigger_keyword, inbox_id } = flow;
  if (trigger_keyword === null || flow.trigger_match === "regex") {
    return [];
  }
  const others = await ofOrganization(db, organization_id)
    .selectFrom("flows")
    .select(["name", "trigger_keyword"])
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
      field: "trigger_keyword",
      code: "keyword_in_use",
      message: `The flow ${other.name} is started by ${keyword} too.`,
      fix: "Choose another keyword, or ask before you disable one of them with toggle_flow.",
    }));
  });
}
