/** Creates and changes flows: checks their behaviour, and stores a version when the behaviour changes. */
import type { z } from "zod";
import {
  type flows as contract,
  EndActionConfig as EndActionConfigSchema,
} from "../../../../../tools/flows/index.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { FlowNode, StoredEndActionConfig } from "../../../../database/schema/index.ts";
import { getOrDefaultInbox } from "../../../account/inboxes/index.ts";
import { requireBelowQuota } from "../../../account/organization/index.ts";
import { bindRules } from "../../../account/rules/index.ts";
import {
  freshId,
  type ReadContext,
  type Transaction,
  type WriteContext,
} from "../../../foundation/kernel/index.ts";
import { requireAuthority } from "../authority/index.ts";
import { checkRequests } from "../calls/index.ts";
import { checkPatterns, type Inspections, inspectGraph } from "../checks/pattern-rules.ts";
import { checkReferences } from "../checks/references.ts";
import { validateGraph } from "../checks/validate.ts";
import { failGraph, isInteractive, type Problem, parsePart, toGraph } from "../graph/index.ts";
import { requireSchedule, reschedule } from "../schedule/index.ts";
import { hasTrigger, readTrigger, storedTrigger, triggerColumns } from "../triggers/index.ts";
import {
  type FlowRow,
  type FlowWithVersion,
  getFlow,
  lockFlow,
  selectFlows,
  type VersionRow,
} from "./find.ts";
import { insertSecrets, type NodeSecret, resolveSecrets, withoutSecrets } from "./secrets.ts";

type Create = z.output<typeof contract.create_flow.input>;
type Update = z.output<typeof contract.update_flow.input>;
type Toggle = z.output<typeof contract.toggle_flow.input>;

/** @throws Failure `flow_invalid`, `insufficient_scope`, `inbox_not_found`, `quota_exceeded`. */
export async function createFlow(
  input: Create,
  context: WriteContext,
  inspections: Inspections,
): Promise<FlowWithVersion> {
  const { tx, organization, now } = context;
  await requireBelowQuota(context, "flows", tx.selectFrom("flows"));
  await requireInbox(tx, organization, input.inbox_id);
  const trigger = readTrigger(input);
  await requireSchedule(tx, trigger, { organization, now });
  const { name, description = null, inbox_id = null, is_enabled, priority, end_action_type } = input;
  const end_action_config = readEndAction(input.end_action_config);
  const wanted = { nodes: input.nodes.map(toStoredNode), end_action_type, end_action_config };
  const version = await prepareStored(context, wanted, { inspections });
  const at = now.toISOString();
  const columns = triggerColumns(trigger, { now, inspections });
  const authority = await requireAuthority(context, { ...columns, nodes: version.nodes });
  const flow = await tx
    .insertInto("flows")
    .values({
      organization_id: organization,
      id: freshId({ now }, "flow"),
      name,
      description,
      inbox_id,
      is_enabled,
      ...columns,
      ...authority,
      priority,
      version: 1,
      created_at: at,
      updated_at: at,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await bindRules(context, flow.id, context.caller);
  await insertVersion(context, flow, version);
  await reschedule(context, flow);
  return getFlow(tx, organization, flow.id);
}

/** @throws Failure `flow_not_found`, and all errors of `createFlow` except `quota_exceeded`. */
export async function updateFlow(
  input: Update,
  context: WriteContext,
  inspections: Inspections,
): Promise<FlowWithVersion> {
  const { tx, organization, now } = context;
  const before = await lockFlow(tx, organization, input.id);
  await requireInbox(tx, organization, input.inbox_id ?? undefined);
  const trigger = readTrigger(input, before.trigger_schedule_timezone);
  await requireSchedule(tx, trigger, { organization, now });
  const { name, description, inbox_id, is_enabled, priority, end_action_type, nodes } = input;
  const end_action_config = input.end_action_config && readEndAction(input.end_action_config);
  const isNewVersion = [end_action_type, end_action_config, nodes].some((field) => field !== undefined);
  const wantedEnd = end_action_type ?? before.end_action_type;
  const wanted = {
    nodes: nodes?.map(toStoredNode) ?? before.nodes,
    end_action_type: wantedEnd,
    end_action_config: end_action_config ?? keepFields(before.end_action_config, wantedEnd),
  };
  const version = isNewVersion ? await prepareStored(context, wanted, { inspections, before }) : undefined;
  const trigger_columns = hasTrigger(input)
    ? triggerColumns({ ...storedTrigger(before, trigger), ...trigger }, { now, inspections })
    : {};
  const isActing = isNewVersion || hasTrigger(input) || inbox_id !== undefined || is_enabled === true;
  const authority = isActing
    ? await requireAuthority(context, { ...before, ...trigger_columns, nodes: wanted.nodes })
    : {};
  const changed = await ofOrganization(tx, organization)
    .updateTable("flows")
    .set({
      name,
      description,
      inbox_id,
      is_enabled,
      priority,
      ...trigger_columns,
      ...authority,
      version: before.version + Number(isNewVersion),
      updated_at: now.toISOString(),
    })
    .where("id", "=", before.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (isActing) {
    await bindRules(context, before.id, context.caller);
  }
  if (hasTrigger(input) || changed.is_enabled !== before.is_enabled) {
    await reschedule(context, changed);
  }
  if (version) {
    await insertVersion(context, changed, version);
    await deleteUnusedVersions(tx, changed);
  }
  return getFlow(tx, organization, before.id);
}

/**
 * Enables or disables a flow; without `is_enabled`, the opposite of what it is. A flow that becomes enabled
 * acts for the caller.
 */
export async function toggleFlow({ id, is_enabled }: Toggle, context: WriteContext): Promise<FlowRow> {
  const { tx, organization, now } = context;
  const flow = await lockFlow(tx, organization, id);
  if (is_enabled === flow.is_enabled) {
    return flow;
  }
  const authority = flow.is_enabled ? {} : await requireAuthority(context, flow);
  const toggled = await ofOrganization(tx, organization)
    .updateTable("flows")
    .set({ is_enabled: !flow.is_enabled, ...authority, updated_at: now.toISOString() })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (toggled.is_enabled) {
    await bindRules(context, id, context.caller);
  }
  await reschedule(context, toggled);
  return toggled;
}

type Version = Omit<VersionRow, "organization_id" | "flow_id" | "version">;

interface StoredVersion extends Version {
  readonly secrets: readonly NodeSecret[];
}

interface Preparation {
  /** Has every regular expression of the graph. */
  readonly inspections: Inspections;
  readonly otherProblems?: readonly Problem[];
}

/** Prepares a version with its secrets. Secrets that are kept come from `before`. */
async function prepareStored(
  context: WriteContext,
  version: Omit<Version, "is_interactive">,
  { inspections, before }: Preparation & { readonly before?: FlowWithVersion },
): Promise<StoredVersion> {
  const { secrets, problems } = await resolveSecrets(context, toGraph(version.nodes), before);
  const prepared = await prepareVersion(context, version, { inspections, otherProblems: problems });
  return { ...prepared, nodes: prepared.nodes.map(withoutSecrets), secrets };
}

/** Returns the version if its graph and its end action are valid. @throws Failure `flow_invalid`. */
export async function prepareVersion(
  { db, world, organization }: ReadContext,
  version: Omit<Version, "is_interactive">,
  { inspections, otherProblems = [] }: Preparation,
): Promise<Version> {
  const graph = toGraph(version.nodes);
  const problems = [
    ...(await validateGraph(graph)),
    ...(await checkReferences(db, organization, { graph, end_action_config: version.end_action_config })),
    ...checkRequests(world, graph),
    ...checkPatterns(graph, inspections),
    ...otherProblems,
    ...checkEndAction(version),
  ];
  if (problems.length > 0) {
    throw failGraph("flow_invalid", problems);
  }
  return { ...version, is_interactive: isInteractive(graph) };
}

/** Checks the regular expressions of a new flow, before its transaction. */
export function inspectNew(context: Pick<ReadContext, "world">, input: Create): Promise<Inspections> {
  return inspectGraph(context, input.nodes.map(toStoredNode), keywordPatterns(input));
}

/** Inspects the expressions of a change, and the stored expressions that it keeps. */
export async function inspectChanged(
  context: Pick<ReadContext, "world">,
  organization: string,
  input: Update,
): Promise<Inspections> {
  const { queries } = context.world.database;
  const stored = await selectFlows(queries, organization).where("flows.id", "=", input.id).executeTakeFirst();
  const { trigger_keyword = stored?.trigger_keyword, trigger_match = stored?.trigger_match, nodes } = input;
  const patterns = keywordPatterns({ trigger_keyword, trigger_match });
  return inspectGraph(context, nodes?.map(toStoredNode) ?? stored?.nodes ?? [], patterns);
}

/** The regular expression of a keyword trigger, in a list; empty for other triggers. */
export function keywordPatterns({
  trigger_keyword,
  trigger_match,
}: Partial<Pick<FlowRow, "trigger_keyword" | "trigger_match">>) {
  return trigger_match === "regex" && trigger_keyword ? [trigger_keyword] : [];
}

/** @throws Failure `flow_invalid`. */
export function readEndAction(value: unknown): StoredEndActionConfig {
  const parsed = parsePart(EndActionConfigSchema, value, "end_action_config");
  if ("problems" in parsed) {
    throw failGraph("flow_invalid", parsed.problems);
  }
  return parsed.data;
}

/** The fields that each end action takes. */
const endActionFields: Readonly<
  Record<Version["end_action_type"], readonly (keyof StoredEndActionConfig)[]>
> = {
  none: [],
  assign: ["team_id", "user_id"],
  resolve: [],
  snooze: ["until"],
  unassign: [],
  handoff_chatbot: [],
};

const takesField = (type: Version["end_action_type"], name: string) =>
  endActionFields[type].some((field) => field === name);

/** The stored fields that the end action takes. */
function keepFields(
  stored: StoredEndActionConfig,
  end_action_type: Version["end_action_type"],
): StoredEndActionConfig {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => takesField(end_action_type, name)));
}

function checkEndAction({
  end_action_type,
  end_action_config,
}: Pick<Version, "end_action_type" | "end_action_config">) {
  const allowed = endActionFields[end_action_type];
  return Object.entries(end_action_config)
    .filter(([name, value]) => value !== undefined && !takesField(end_action_type, name))
    .map(([name]) => ({
      field: `end_action_config.${name}`,
      code: "unknown_argument",
      message: `The end action ${end_action_type} takes no ${name}.`,
      fix: `It takes: ${allowed.join(", ") || "nothing"}.`,
    }));
}

/**
 * Deletes versions that are neither the present one nor used by an active run: they can't be read any more.
 */
async function deleteUnusedVersions(
  tx: Transaction,
  { organization_id, id, version }: FlowRow,
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .deleteFrom("flow_versions")
    .where("flow_id", "=", id)
    .where("version", "<>", version)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("flow_runs")
            .select("flow_runs.id")
            .where("flow_runs.organization_id", "=", organization_id)
            .where("flow_runs.flow_id", "=", id)
            .whereRef("flow_runs.version", "=", "flow_versions.version")
            .where("flow_runs.status", "in", ["running", "waiting"]),
        ),
      ),
    )
    .execute();
}

async function insertVersion(
  context: WriteContext,
  flow: FlowRow,
  { secrets, ...version }: StoredVersion,
): Promise<void> {
  const { organization_id, id: flow_id } = flow;
  await context.tx
    .insertInto("flow_versions")
    .values({
      organization_id,
      flow_id,
      version: flow.version,
      ...version,
      nodes: JSON.stringify(version.nodes),
      end_action_config: JSON.stringify(version.end_action_config),
    })
    .execute();
  await insertSecrets(context, flow, secrets);
}

export function toStoredNode({
  parent_node_id,
  connection_value,
  ...node
}: Create["nodes"][number]): FlowNode {
  return { ...node, parent_node_id: parent_node_id || null, connection_value: connection_value ?? null };
}

async function requireInbox(
  tx: Transaction,
  organization: string,
  inbox_id: string | undefined,
): Promise<void> {
  if (inbox_id !== undefined) {
    await getOrDefaultInbox(tx, organization, inbox_id);
  }
}
