/** Says what the trigger of a rehearsal does: whether something starts the flow, and its next time. */
import type { z } from "zod";
import type { flows as contract } from "../../../../../tools/flows/index.ts";
import type { ReadContext } from "../../../foundation/kernel/index.ts";
import { inspectPatterns } from "../checks/pattern-rules.ts";
import { keywordPatterns } from "../definitions/save.ts";
import { nextRunAfter } from "../schedule/index.ts";
import { readComparedText } from "../texts/keywords.ts";
import type { Verdicts } from "../texts/patterns.ts";
import { reactsTo, readTrigger, testsOfTrigger, triggerColumns } from "../triggers/index.ts";

type Input = z.output<typeof contract.rehearse_flow.input>;

/** The trigger of a stored flow, or of the request. Whether a stored one is enabled does not matter. */
type Trigger = ReturnType<typeof triggerColumns>;

/** The trigger of the request, with the checks of `create_flow`. @throws Failure `flow_invalid`. */
export async function readSampleTrigger(
  trigger: NonNullable<Input["trigger"]>,
  { world }: Pick<ReadContext, "world">,
  now: Date,
): Promise<Trigger> {
  const inspections = await inspectPatterns(world, keywordPatterns(trigger));
  return triggerColumns(readTrigger(trigger), { now, inspections });
}

interface Happening extends Pick<Input, "message" | "event"> {
  readonly start: Date;
  readonly verdicts: Verdicts;
}

export async function describeTrigger(trigger: Trigger | undefined, happening: Happening) {
  const next = trigger && nextRunAfter({ ...trigger, is_enabled: true }, happening.start);
  return {
    would_trigger: trigger ? await wouldTrigger(trigger, happening) : null,
    next_run_at: next?.toISOString() ?? null,
  };
}

/** Null if what happens says nothing of the trigger: a message may cause other events too. */
async function wouldTrigger(
  trigger: Trigger,
  { message, event, verdicts }: Happening,
): Promise<boolean | null> {
  const type = event?.type ?? (message === undefined ? undefined : "message.received");
  const isCompared: Readonly<Record<Trigger["trigger_type"], boolean>> = {
    keyword: message !== undefined,
    event: event !== undefined || type === trigger.trigger_event_type,
    schedule: false,
  };
  if (type === undefined || !isCompared[trigger.trigger_type]) {
    return null;
  }
  await verdicts.learn(testsOfTrigger(trigger, message ?? null));
  return reactsTo(trigger, {
    event_type: type,
    text: message === undefined ? null : readComparedText(message),
    tags: event?.tag === undefined ? [] : [event.tag],
    matches: verdicts.matches,
  });
}
