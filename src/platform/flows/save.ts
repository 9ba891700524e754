/** Creates and changes flows: checks what they do, and stores a version when that changes. */
import type { z } from "zod";
import type { Failure } from "../../../tools/contract/index.ts";
import { fail, failField } from "../../../tools/errors.ts";
import {
  type flows as contract,
  nodes as declarations,
  EndActionConfig as EndActionConfigSchema,
  FlowSettings,
  type TriggerType,
} from "../../../tools/flows/index.ts";
import type { Transaction } from "../../database/database.ts";
import type { EndActionConfig, FlowNode } from "../../database/schema/index.ts";
import { getOrDefaultInbox } from "../inboxes.ts";
import { freshId, requireBelowQuota, requireScope, type WriteContext } from "../kernel/index.ts";
import { type FlowRow, type FlowWithVersion, getFlow, lockFlow, type VersionRow } from "./find.ts";
import { isInteractive, type Problem, parsePart, toGraph } from "./graph/index.ts";
import { compileRegex, splitKeywords } from "./keywords.ts";
import { invalidRegex } from "./nodes/index.ts";
import { checkReferences } from "./references.ts";
import {
  requireSchedule,
  reschedule,
  type Schedule,
  scheduleColumns,
  storedSchedule,
} from "./schedule/index.ts";
import { typesOf, validateGraph } from "./validate.ts";

type Create = z.output<typeof contract.create_flow.input>;
type Update = z.output<typeof contract.update_flow.input>;

/** @throws Failure `flow_invalid`, `insufficient_scope`, `inbox_not_found`, `quota_exceeded`. */
export async function createFlow(input: Create, context: WriteContext): Promise<FlowWithVersion> {
  const { tx, organization, now } = context;
  await requireBelowQuota(context, "flows", tx.selectFrom("flows"));
  await requireInbox(tx, organization, input.inbox_id);
  const trigger = readTrigger(input);
  await requireSchedule(tx, trigger, { organization, now });
  const { name, description = null, inbox_id = null, priority, end_action_type } = input;
  const end_action_config = readEndAction(input.end_action_config);
  const version = await prepareVersion(context, {
    nodes: input.nodes.map(toStoredNode),
    ...{ end_action_type, end_action_config },
  });
  const at = now.toISOString();
  const flow = await tx
    .insertInto("flows")
    .values({
      ...{ organization_id: organization, id: freshId({ now }, "flow"), name, description, inbox_id },
      ...{ is_enabled: true, ...triggerColumns(trigger, now), priority, version: 1 },
      ...{ created_at: at, updated_at: at },
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await insertVersion(tx, flow, version);
  const next_run_at = await reschedule(context, flow);
  return { ...flow, ...version, next_run_at };
}

/** @throws Failure `flow_not_found`, and those of `createFlow` but for the quota. */
export async function updateFlow(input: Update, context: WriteContext): Promise<FlowWithVersion> {
  const { tx, organization, now } = context;
  const before = await lockFlow(tx, organization, input.id);
  await requireInbox(tx, organization, input.inbox_id ?? undefined);
  const trigger = readTrigger(input);
  await requireSchedule(tx, trigger, { organization, now });
  const { name, description, inbox_id, is_enabled, priority, end_action_type, nodes } = input;
  const end_action_config = input.end_action_config && readEndAction(input.end_action_config);
  const isNewVersion = [end_action_type, end_action_config, nodes].some((field) => field !== undefined);
  const changed = await tx
    .updateTable("flows")
    .set({
      ...{ name, description, inbox_id, is_enabled, priority },
      ...(hasTrigger(input) ? triggerColumns({ ...storedTrigger(before, trigger), ...trigger }, now) : {}),
      version: before.version + Number(isNewVersion),
      updated_at: now.toISOString(),
    })
    .where("organization_id", "=", organization)
    .where("id", "=", before.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (hasTrigger(input) || changed.is_enabled !== before.is_enabled) {
    await reschedule(context, changed);
  }
  if (isNewVersion) {
    const version = await prepareVersion(context, {
      nodes: nodes?.map(toStoredNode) ?? before.nodes,
      end_action_type: end_action_type ?? before.end_action_type,
      end_action_config: end_action_config ?? before.end_action_config,
    });
    await insertVersion(tx, changed, version);
    await deleteUnusedVersions(tx, changed);
  }
  return getFlow(tx, organization, before.id);
}

type Version = Omit<VersionRow, "organization_id" | "flow_id" | "version">;

async function prepareVersion(
  { tx, organization, caller }: WriteContext,
  version: Omit<Version, "is_interactive">,
): Promise<Version> {
  const graph = toGraph(version.nodes);
  const problems = [
    ...validateGraph(graph),
    ...(await checkReferences(tx, organization, { graph, end_action_config: version.end_action_config })),
    ...checkEndAction(version),
  ];
  if (problems.length > 0) {
    throw failInvalid(problems);
  }
  for (const type of typesOf(graph)) {
    requireScope(caller, declarations[type].scope ?? null);
  }
  return { ...version, is_interactive: isInteractive(graph) };
}

/** The trigger of a request, with its settings checked. @throws Failure `flow_invalid`. */
function readTrigger<Input extends { readonly settings?: unknown }>({ settings, ...input }: Input) {
  if (settings === undefined) {
    return input;
  }
  const parsed = parsePart(FlowSettings, settings, "settings");
  if ("problems" in parsed) {
    throw failInvalid(parsed.problems);
  }
  return { ...input, settings: parsed.data };
}

/** @throws Failure `flow_invalid`. */
function readEndAction(value: unknown): EndActionConfig {
  const parsed = parsePart(EndActionConfigSchema, value, "end_action_config");
  if ("problems" in parsed) {
    throw failInvalid(parsed.problems);
  }
  return parsed.data;
}

function failInvalid(problems: readonly Problem[]): Failure {
  const { field = "nodes", message = "" } = problems[0] ?? {};
  return fail("flow_invalid", { reason: `${field}: ${message}`, param: field, details: problems });
}

/** What each end action takes. */
const endActionFields: Readonly<Record<Version["end_action_type"], readonly (keyof EndActionConfig)[]>> = {
  none: [],
  assign: ["team_id", "user_id"],
  resolve: [],
  snooze: ["until"],
  unassign: [],
};

function checkEndAction({
  end_action_type,
  end_action_config,
}: Pick<Version, "end_action_type" | "end_action_config">) {
  const allowed = endActionFields[end_action_type];
  return Object.entries(end_action_config)
    .filter(([name, value]) => value !== undefined && !allowed.some((field) => field === name))
    .map(([name]) => ({
      field: `end_action_config.${name}`,
      code: "unknown_argument",
      message: `The end action ${end_action_type} takes no ${name}.`,
      fix: `It takes: ${allowed.join(", ") || "nothing"}.`,
    }));
}

/** A version that is neither the present one nor that of an active run can't be read any more. */
async function deleteUnusedVersions(
  tx: Transaction,
  { organization_id, id, version }: FlowRow,
): Promise<void> {
  await tx
    .deleteFrom("flow_versions")
    .where("organization_id", "=", organization_id)
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

async function insertVersion(tx: Transaction, flow: FlowRow, version: Version): Promise<void> {
  const { organization_id, id: flow_id } = flow;
  await tx
    .insertInto("flow_versions")
    .values({
      ...{ organization_id, flow_id, version: flow.version, ...version },
      nodes: JSON.stringify(version.nodes),
      end_action_config: JSON.stringify(version.end_action_config),
    })
    .execute();
}

function toStoredNode({ parent_node_id, connection_value, ...node }: Create["nodes"][number]): FlowNode {
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

interface Trigger extends Schedule {
  readonly trigger_type: TriggerType;
  readonly trigger_keyword?: string | undefined;
  readonly trigger_match?: FlowRow["trigger_match"] | undefined;
  readonly trigger_event_type?: FlowRow["trigger_event_type"] | undefined;
}

/** The columns of each type of trigger; those of the others are null. @throws Failure `flow_invalid`. */
function triggerColumns(trigger: Trigger, now: Date) {
  const { trigger_type, trigger_keyword = null, trigger_match, trigger_event_type = null } = trigger;
  const match = trigger_match ?? "word";
  const none = {
    ...{ trigger_type, trigger_keyword: null, trigger_match: null, trigger_event_type: null },
    ...{
      trigger_schedule: null,
      trigger_schedule_at: null,
      trigger_schedule_timezone: null,
      cohort_id: null,
    },
  };
  if (trigger_type === "schedule") {
    return { ...none, ...scheduleColumns(trigger, now) };
  }
  if (trigger.settings?.cohort_id !== undefined) {
    const reason = "Only a flow of trigger_type schedule has a cohort.";
    throw failField("settings.cohort_id", "flow_invalid", { reason });
  }
  if (trigger_type === "event") {
    return { ...none, trigger_event_type };
  }
  const keyword = trigger_keyword ?? "";
  if (match === "regex" && !compileRegex(keyword)) {
    const { message } = invalidRegex("trigger_keyword");
    throw failField("trigger_keyword", "flow_invalid", { reason: message });
  }
  if (match !== "regex" && splitKeywords(keyword).length === 0) {
    throw failField("trigger_keyword", "flow_invalid", { reason: "trigger_keyword has no keyword." });
  }
  return { ...none, trigger_keyword: keyword, trigger_match: match };
}

function hasTrigger(input: Update): boolean {
  return Object.entries(input).some(
    ([name, value]) => (name.startsWith("trigger_") || name === "settings") && value !== undefined,
  );
}

/** The stored trigger, of which an input of the same type changes a part. */
function storedTrigger(flow: FlowRow, input: Partial<Trigger>): Trigger {
  const { trigger_type = flow.trigger_type } = input;
  const { trigger_keyword, trigger_match, trigger_event_type } = flow;
  const isSame = trigger_type === flow.trigger_type;
  return {
    trigger_type,
    ...(isSame && trigger_keyword !== null ? { trigger_keyword, trigger_match } : {}),
    ...(isSame && trigger_event_type !== null ? { trigger_event_type } : {}),
    ...(isSame && trigger_type === "schedule" ? storedSchedule(flow, input) : {}),
  };
}
