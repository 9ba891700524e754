/** The trigger of a flow, as a request sends it and as it is stored in columns. */
import { failField } from "../../../../../tools/errors.ts";
import { FlowSettings, type TriggerType } from "../../../../../tools/flows/index.ts";
import { checkPattern, type Inspections } from "../checks/pattern-rules.ts";
import type { FlowRow } from "../definitions/find.ts";
import { failGraph, parsePart } from "../graph/index.ts";
import { type Schedule, scheduleColumns, storedSchedule, toInstant } from "../schedule/index.ts";
import { splitKeywords } from "../texts/keywords.ts";

interface Trigger extends Omit<Schedule, "settings"> {
  readonly trigger_type: TriggerType;
  readonly trigger_keyword?: string | undefined;
  readonly trigger_match?: FlowRow["trigger_match"] | undefined;
  readonly trigger_event_type?: FlowRow["trigger_event_type"] | undefined;
  readonly settings?: { readonly cohort_id?: string | undefined; readonly tag?: string | undefined };
}

/** The fields of each type of trigger; the settings are checked on their own. */
const fieldsOf = {
  keyword: ["trigger_keyword", "trigger_match"],
  event: ["trigger_event_type"],
  schedule: ["trigger_schedule", "trigger_schedule_at", "trigger_schedule_timezone"],
} as const satisfies Readonly<Record<TriggerType, readonly (keyof Trigger)[]>>;

const allFields = Object.values(fieldsOf).flat();

/** The columns of other types of trigger are null. */
type TriggerColumns = Pick<
  FlowRow,
  "trigger_type" | (typeof allFields)[number] | "cohort_id" | "trigger_tag"
>;

interface SentTrigger extends Omit<Schedule, "settings"> {
  readonly settings?: unknown;
}

/**
 * The trigger of a request, with its settings checked and its time as an instant.
 * @throws Failure `flow_invalid`.
 */
export function readTrigger<Input extends SentTrigger>(
  { settings, ...input }: Input,
  storedZone: string | null = null,
) {
  const { trigger_schedule_at: time, trigger_schedule_timezone: zone = storedZone ?? "UTC" } = input;
  // A field that was not sent must not be set: it would replace the stored time.
  const trigger = { ...input, ...(time === undefined ? {} : { trigger_schedule_at: toInstant(time, zone) }) };
  if (settings === undefined) {
    return trigger;
  }
  const parsed = parsePart(FlowSettings, settings, "settings");
  if ("problems" in parsed) {
    throw failGraph("flow_invalid", parsed.problems);
  }
  return { ...trigger, settings: parsed.data };
}

/** Whether a request changes the trigger. */
export function hasTrigger(input: Partial<Trigger>): boolean {
  return (["trigger_type", "settings", ...allFields] as const).some((name) => input[name] !== undefined);
}

/** The stored trigger, without the parts that an input of the same type replaces. */
export function storedTrigger(flow: FlowRow, input: Partial<Trigger>): Trigger {
  const { trigger_type = flow.trigger_type } = input;
  const { trigger_keyword, trigger_match, trigger_event_type, trigger_tag } = flow;
  const isSame = trigger_type === flow.trigger_type;
  const isSameEvent = isSame && (input.trigger_event_type ?? trigger_event_type) === trigger_event_type;
  return {
    trigger_type,
    ...(isSame && trigger_keyword !== null ? { trigger_keyword, trigger_match } : {}),
    ...(isSame && trigger_event_type !== null ? { trigger_event_type } : {}),
    ...(isSameEvent && trigger_tag !== null ? { settings: { tag: trigger_tag } } : {}),
    ...(isSame && trigger_type === "schedule" ? storedSchedule(flow, input) : {}),
  };
}

/**
 * `inspections` must have the keyword if it is a regular expression.
 * @throws Failure `flow_invalid`, `unavailable`.
 */
export function triggerColumns(
  trigger: Trigger,
  { now, inspections }: { readonly now: Date; readonly inspections: Inspections },
): TriggerColumns {
  const { trigger_type, trigger_event_type = null, settings } = trigger;
  const known: readonly string[] = fieldsOf[trigger_type];
  const surplus = allFields.find((name) => trigger[name] !== undefined && !known.includes(name));
  if (surplus !== undefined) {
    throw failTrigger(surplus, `A flow of trigger_type ${trigger_type} takes no ${surplus}.`);
  }
  if (settings?.cohort_id !== undefined && trigger_type !== "schedule") {
    throw failTrigger("settings.cohort_id", "Only a flow of trigger_type schedule has a cohort.");
  }
  if (settings?.tag !== undefined && trigger_event_type !== "contact.tag_added") {
    throw failTrigger("settings.tag", "Only a flow of the event contact.tag_added has a tag.");
  }
  return {
    trigger_type,
    trigger_event_type,
    trigger_tag: settings?.tag ?? null,
    ...(trigger_type === "keyword" ? keywordColumns(trigger, inspections) : noKeyword),
    ...(trigger_type === "schedule" ? scheduleColumns(trigger, now) : noSchedule),
  };
}

const noKeyword = { trigger_keyword: null, trigger_match: null };

const noSchedule = {
  trigger_schedule: null,
  trigger_schedule_at: null,
  trigger_schedule_timezone: null,
  cohort_id: null,
};

function keywordColumns({ trigger_keyword = "", trigger_match }: Trigger, inspections: Inspections) {
  const match = trigger_match ?? "word";
  const problems = match === "regex" ? checkPattern(trigger_keyword, "trigger_keyword", inspections) : [];
  if (problems.length > 0) {
    throw failGraph("flow_invalid", problems);
  }
  if (match !== "regex" && splitKeywords(trigger_keyword).length === 0) {
    throw failTrigger("trigger_keyword", "trigger_keyword has no keyword.");
  }
  return { trigger_keyword, trigger_match: match };
}

function failTrigger(field: string, reason: string) {
  return failField(field, "flow_invalid", { reason });
}
