/** The chatbot's configuration. An organization has one. */
import type { Selectable } from "kysely";
import type { z } from "zod";
import type { chatbot as contract } from "../../../../tools/chatbot.ts";
import { fail } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { bindRules } from "../../account/rules/index.ts";
import { type Actor, freshId, type WriteContext } from "../../foundation/kernel/index.ts";
import { failGraph, type Problem } from "../../foundation/problems.ts";
import { findIdleTeams, findTeams, type TeamReference } from "../../inbox/teams/index.ts";
import { type ChatbotGraph, graphField, readGraph, showGraph } from "./graph/index.ts";

export type ConfigRow = Selectable<Tables["chatbot_configs"]>;

type Configure = z.output<typeof contract.configure_chatbot.input>;

/** @throws Failure `chatbot_graph_invalid`, with every problem of the graph. */
export async function configure({ name, graph_definition, is_active }: Configure, context: WriteContext) {
  const { tx, organization, now } = context;
  const read = readGraph(graph_definition);
  if ("problems" in read) {
    throw failGraph("chatbot_graph_invalid", read.problems);
  }
  const unknown = await findUnknownTeams(tx, organization, read.graph);
  if (unknown.length > 0) {
    throw failGraph("chatbot_graph_invalid", unknown);
  }
  const graph = JSON.stringify(read.graph);
  const updated_at = now.toISOString();
  const config = await tx
    .insertInto("chatbot_configs")
    .values({
      organization_id: organization,
      id: freshId(context, "bot"),
      name: name ?? null,
      graph,
      is_active: is_active ?? true,
      created_at: updated_at,
      updated_at,
    })
    // Columns that the caller did not send keep their values.
    .onConflict((conflict) =>
      conflict.column("organization_id").doUpdateSet({ name, graph, is_active, updated_at }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  await bindRules(context, config.id, context.caller);
  return config;
}

export async function findConfig(db: Queries, organization: string): Promise<ConfigRow | undefined> {
  return ofOrganization(db, organization).selectFrom("chatbot_configs").selectAll().executeTakeFirst();
}

/** @throws Failure `chatbot_not_configured`, also if it is not active. */
export async function requireActiveConfig(db: Queries, organization: string): Promise<ConfigRow> {
  const config = await findConfig(db, organization);
  if (!config?.is_active) {
    throw fail("chatbot_not_configured");
  }
  return config;
}

export function graphOf({ graph }: ConfigRow): ChatbotGraph {
  // Only what `readGraph` returned is stored, and a type of node is never removed.
  return graph as unknown as ChatbotGraph;
}

/** The configuration as the API returns it. Warns about teams without agents that the bot hands over to. */
export async function showConfig(db: Queries, config: ConfigRow, now: Date) {
  const graph = graphOf(config);
  const warnings = await findIdleTeams(db, config.organization_id, { references: teamsOf(graph), now });
  return { ...config, graph_definition: showGraph(graph), warnings: [...warnings] };
}

/** The bot, as it acts in a conversation. */
export function botOf({ id, name }: ConfigRow): Actor {
  return { type: "bot", id, name: name ?? "Chatbot", scopes: new Set() };
}

/** The teams that nodes hand over to, with their places in the graph. */
function teamsOf({ nodes }: ChatbotGraph): readonly (TeamReference & { readonly node_id: string })[] {
  return nodes.flatMap(({ id: node_id, ...node }, index) =>
    node.type === "handoff" && node.config.team_id !== undefined
      ? [{ field: `${graphField}.nodes[${index}].config.team_id`, id: node.config.team_id, node_id }]
      : [],
  );
}

async function findUnknownTeams(db: Queries, organization: string, graph: ChatbotGraph): Promise<Problem[]> {
  const named = teamsOf(graph);
  const known = await findTeams(
    db,
    organization,
    named.map(({ id }) => id),
  );
  return named.flatMap(({ field, id, node_id }) =>
    known.has(id)
      ? []
      : {
          field,
          code: "team_not_found",
          message: `Node ${node_id}: there is no team ${id}.`,
          fix: "Find the id with list_teams (GET /v1/teams).",
        },
  );
}
