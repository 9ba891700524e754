/** Lists runs, shows a run with its path, cancels a run, and starts a run manually. */
import { sql } from "kysely";
import type { z } from "zod";
import { fail } from "../../../../tools/errors.ts";
import { type flows as contract, nodes, nodeTypes } from "../../../../tools/flows/index.ts";
import type { ActiveRun } from "../../../../tools/messages/index.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, readPage, refersTo } from "../../../database/query/index.ts";
import type { FlowWait } from "../../../database/schema/index.ts";
import type { OrganizationChange, ReadContext, WriteContext } from "../../foundation/kernel/index.ts";
import { lockConversationSubject, requireConversation } from "../../inbox/conversations/index.ts";
import { getFlow } from "./definitions/find.ts";
import { cancelStatement, type RunRow, requireStartable, selectActiveRuns, startRun } from "./run/index.ts";

type List = z.output<typeof contract.list_flow_runs.input>;
type WaitingFor = FlowWait["for"] | null;
type Trigger = z.output<typeof contract.trigger_flow.input>;

/**
 * @throws Failure `flow_not_found`, `conversation_not_found`, `flow_disabled`, `flow_not_startable`,
 *   `flow_run_active`.
 */
export async function triggerFlow(input: Trigger, context: WriteContext) {
  const { flow, conversation } = await findTriggered(input, context);
  const started = await startRun(context, {
    flow,
    conversation,
    trigger_type: "manual",
    trigger_key: null,
    message_id: null,
  });
  if (!("skipped" in started)) {
    const { id: flow_id, conversation_id } = input;
    return { flow_id, conversation_id, run_id: started.run_id, status: "triggered" as const };
  }
  throw started.skipped === "interactive_run_active"
    ? fail("flow_run_active", { run_id: started.run_id })
    : fail("flow_not_startable", { reason: "too many runs were started for this contact in the last hour." });
}

/** What a flow sends is not known before it runs: its messages are bound by the rules of who saved it. */
export async function planTrigger(input: Trigger, context: OrganizationChange) {
  const { flow, contact } = await findTriggered(input, context);
  const { id: contact_id, name, phone_number: to } = contact;
  const text = `The messages of the flow ${flow.name}`;
  return {
    summary: `Run the flow ${flow.name}`,
    targets: [{ contact_id, to, name, text, reason: null, frozen: null }],
    price: null,
    warnings: ["price_unknown"],
    subjects: [input.conversation_id],
    frozen: flow.version,
  };
}

/** @throws Failure `plan_changed`, and the failures of `triggerFlow`. */
export async function runPlannedTrigger(
  input: Trigger,
  context: WriteContext,
  { frozen }: { readonly frozen: unknown },
) {
  const { version } = await getFlow(context.tx, context.organization, input.id);
  if (version !== frozen) {
    throw fail("plan_changed", { reason: "the flow was changed meanwhile" });
  }
  return triggerFlow(input, context);
}

async function findTriggered({ id, conversation_id }: Trigger, { tx, organization }: OrganizationChange) {
  const flow = await getFlow(tx, organization, id);
  const subject = await lockConversationSubject(tx, organization, conversation_id);
  if (!subject) {
    throw fail("conversation_not_found", { param: "conversation_id" });
  }
  const { conversation, contact } = subject;
  requireStartable(flow, conversation);
  if (contact.blocked_at !== null) {
    throw fail("contact_blocked", { contact_id: contact.id });
  }
  return { flow, conversation, contact };
}

export async function listRuns(
  { flow_id, conversation_id, status, ...paging }: List,
  { db, organization }: ReadContext,
) {
  // Leaves out the variables and the request of a call, which may be large.
  const query = ofOrganization(db, organization)
    .selectFrom("flow_runs")
    .select(["id", "organization_id", "flow_id", "version", "conversation_id", "contact_id", "status"])
    .select(["reason", "trigger_type", "due_at", "steps", "created_at", "ended_at"])
    .select(sql<string | null>`coalesce(wait ->> 'node_id', pending ->> 0)`.as("node_id"))
    .select(sql<WaitingFor>`case when status = 'waiting' then wait ->> 'for' end`.as("waiting_for"))
    .$if(flow_id !== undefined, (rows) => rows.where("flow_id", "=", flow_id ?? ""))
    .$if(conversation_id !== undefined, (rows) => rows.where("conversation_id", "=", conversation_id ?? ""))
    .$if(status !== undefined, (rows) => rows.where("status", "=", status ?? "running"))
    .orderBy("id", "desc");
  const { rows, meta } = await readPage(query, paging);
  return { data: rows, meta };
}

/** @throws Failure `flow_run_not_found`. */
export async function readRun({ db, organization }: ReadContext, id: string) {
  const run = await getRun(db, organization, id);
  const steps = await ofOrganization(db, organization)
    .selectFrom("flow_run_steps")
    .selectAll()
    .where("run_id", "=", id)
    .orderBy("number")
    .execute();
  const path = steps.map(({ detail, ...step }) => ({
    ...step,
    ...detail,
    next: [...detail.next],
    missing: [...detail.missing],
    timed_out: [...(detail.timed_out ?? [])],
  }));
  return { ...serializeRun(run), variables: run.variables, path };
}

/** @throws Failure `flow_run_not_found`, `flow_run_ended`. */
export async function cancelRun({ tx, organization, now }: WriteContext, id: string) {
  const { conversation_id } = await getRun(tx, organization, id);
  // The lock waits for a step that is running now.
  await requireConversation(tx, organization, conversation_id, { locks: true }).catch(() => undefined);
  const { status } = await getRun(tx, organization, id);
  if (status !== "running" && status !== "waiting") {
    throw fail("flow_run_ended", { current_state: status });
  }
  await sql`${cancelStatement(organization, { reason: "requested", conversation_id }, now)} and id = ${id}`.execute(
    tx,
  );
  return serializeRun(await getRun(tx, organization, id));
}

/** The latest run of a conversation that is active. */
export async function findActiveRun(
  db: Queries,
  { organization, conversation_id }: ConversationKey,
): Promise<z.input<typeof ActiveRun> | null> {
  const run = await selectActiveRuns(db, organization, conversation_id)
    .innerJoin("flows", (join) => join.on(refersTo("flow_runs.flow_id", "flows")))
    .select("flows.name as flow_name")
    .orderBy("is_interactive", "desc")
    .orderBy("flow_runs.id", "desc")
    .limit(1)
    .executeTakeFirst();
  return run
    ? {
        ...serializeRun(run),
        flow_name: run.flow_name,
        status: run.status === "waiting" ? "waiting" : "running",
      }
    : null;
}

const takesReplies = sql<boolean>`
  (flow_runs.is_interactive and (flow_runs.status = 'running' or flow_runs.wait ->> 'for' <> 'time'))`;

/** Whether a run waits for the contact's reply, or may wait for one in its next nodes. */
export async function hasRunForReply(
  db: Queries,
  { organization, conversation_id }: ConversationKey,
): Promise<boolean> {
  const run = await selectActiveRuns(db, organization, conversation_id)
    .where(takesReplies)
    .limit(1)
    .executeTakeFirst();
  return run !== undefined;
}

interface ConversationKey {
  readonly organization: string;
  readonly conversation_id: string;
}

const sendingTypes = nodeTypes.filter((type) => nodes[type].sends);

const sends = sql<boolean>`exists (
  select from flow_versions cross join lateral jsonb_array_elements(flow_versions.nodes) as node
  where flow_versions.organization_id = flow_runs.organization_id
    and flow_versions.flow_id = flow_runs.flow_id and flow_versions.version = flow_runs.version
    and node ->> 'node_type' = any(${sendingTypes}::text[])
)`;

/**
 * Whether a run waits for the contact's reply, or has this message: it waited for the message, or the message
 * has started it and it sends something.
 */
export async function hasRunFor(
  db: Queries,
  { organization, conversation_id, message_id }: ConversationKey & { readonly message_id: string },
): Promise<boolean> {
  const run = await selectActiveRuns(db, organization, conversation_id)
    .where((row) =>
      row.or([
        takesReplies,
        row.and([row("message_id", "=", message_id), row.or([row("is_interactive", "=", true), sends])]),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return run !== undefined;
}

async function getRun(db: Queries, organization: string, id: string): Promise<RunRow> {
  const run = await ofOrganization(db, organization)
    .selectFrom("flow_runs")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  if (!run) {
    throw fail("flow_run_not_found");
  }
  return run;
}

function serializeRun(run: RunRow) {
  const { wait, pending, status } = run;
  return {
    ...run,
    node_id: wait?.node_id ?? pending[0] ?? null,
    waiting_for: status === "waiting" && wait ? wait.for : null,
  };
}
