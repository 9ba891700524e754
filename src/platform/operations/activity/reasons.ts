/** Finds why a message was sent: the call, and the broadcast, the flow, the answer or the plan behind it. */
import { sql } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, refersTo } from "../../../database/query/index.ts";
import { showSource } from "../../automation/chatbot/index.ts";
import type { ExplainedMessage } from "./message.ts";
import { type ActRow, namesAny } from "./rows.ts";

export async function findReasons(db: Queries, organization: string, message: ExplainedMessage) {
  const [broadcast, flow, bot, routing] = await Promise.all([
    findBroadcast(db, organization, message),
    findStep(db, organization, message),
    findTurn(db, organization, message),
    findDecision(db, organization, message),
  ]);
  return { broadcast: broadcast ?? null, flow: flow ?? null, bot: bot ?? null, routing: routing ?? null };
}

async function findBroadcast(db: Queries, organization: string, { broadcast_id }: ExplainedMessage) {
  return broadcast_id === null
    ? undefined
    : ofOrganization(db, organization)
        .selectFrom("broadcasts")
        .select(["id", "name"])
        .where("id", "=", broadcast_id)
        .executeTakeFirst();
}

async function findStep(
  db: Queries,
  organization: string,
  { id, conversation_id, sent_by }: ExplainedMessage,
) {
  return sent_by?.type !== "flow"
    ? undefined
    : ofOrganization(db, organization)
        .selectFrom("flow_runs")
        .innerJoin("flow_run_steps", (join) => join.on(refersTo("flow_run_steps.run_id", "flow_runs")))
        .select(["flow_runs.id as run_id", "flow_id", "trigger_type", "node_id", "node_type"])
        .where("conversation_id", "=", conversation_id)
        .where(sql<boolean>`flow_run_steps.detail ->> 'message_id' = ${id}`)
        .executeTakeFirst();
}

async function findTurn(
  db: Queries,
  organization: string,
  { id, conversation_id, sent_by }: ExplainedMessage,
) {
  if (sent_by?.type !== "bot") {
    return undefined;
  }
  const turn = await ofOrganization(db, organization)
    .selectFrom("chatbot_turns")
    .select(["id as turn_id", "agent_used", "sources"])
    .where("conversation_id", "=", conversation_id)
    .where("answer_message_id", "=", id)
    .executeTakeFirst();
  return turn && { ...turn, sources: turn.sources.map(showSource) };
}

/** How long after a received message its routing may be decided. */
const routingSeconds = 60;

async function findDecision(
  db: Queries,
  organization: string,
  { conversation_id, created_at, direction }: ExplainedMessage,
) {
  const until = new Date(Date.parse(created_at) + (direction === "inbound" ? routingSeconds * 1000 : 0));
  return ofOrganization(db, organization)
    .selectFrom("routing_decisions")
    .select(["id", "trigger", "outcome", "explanation", "policy_name", "assigned_to", "created_at"])
    .where("conversation_id", "=", conversation_id)
    .where("created_at", "<=", until.toISOString())
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Calls that let something be sent; others that name the same things only read or change them. */
const sending = [
  "send_message",
  "run_plan",
  "approve_plan",
  "confirm_plan",
  "execute_broadcast",
  "retry_broadcast",
  "create_broadcast",
  "update_broadcast",
  "trigger_flow",
];

/**
 * The act that sent the message: the first that names it, else the latest that names its broadcast, else its
 * run. A call that began after the message was created only refers to it, as a reply does.
 */
export async function findCall(
  db: Queries,
  organization: string,
  { id, created_at }: Pick<ExplainedMessage, "id" | "created_at">,
  causes: readonly (string | undefined)[],
): Promise<ActRow | null> {
  const actsNaming = (named: string) =>
    ofOrganization(db, organization)
      .selectFrom("acts")
      .selectAll()
      .where(namesAny([named]))
      .where("created_at", "<=", created_at)
      .where("status", "<", 400)
      .where("error", "is", null)
      .where("operation", "in", sending)
      .limit(1);
  const own = await actsNaming(id).orderBy("id").executeTakeFirst();
  if (own) {
    return own;
  }
  for (const cause of causes) {
    const act = cause && (await actsNaming(cause).orderBy("id", "desc").executeTakeFirst());
    if (act) {
      return act;
    }
  }
  return null;
}

export async function findPlan(db: Queries, organization: string, { ids }: Pick<ActRow, "ids">) {
  const id = ids.find((one) => one.startsWith("plan_"));
  return id === undefined
    ? undefined
    : ofOrganization(db, organization)
        .selectFrom("plans")
        .select(["id", "summary", "why", "created_at"])
        .where("id", "=", id)
        .executeTakeFirst();
}
