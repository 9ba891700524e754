/** Finds the flows that react to an event, and starts them. */

import { pause } from "../../../../time/pauses.ts";
import type { OrganizationChange, Transaction } from "../../../foundation/kernel/index.ts";
import type { ConversationRow } from "../../../inbox/conversations/index.ts";
import { createSwitchOffJob, lostScopes } from "../authority/index.ts";
import { type FlowWithVersion, keywordOf, selectFlows } from "../definitions/find.ts";
import { insertRuns, type RunKey } from "../run/index.ts";
import { type ComparedText, keywordTests, matchesKeyword } from "../texts/keywords.ts";
import type { MatchPattern, PatternTest } from "../texts/patterns.ts";

/** The event, in the form that triggers are compared with. */
export interface Occurrence {
  readonly event_type: string;
  /** The text that the contact wrote; null if the event is no message, or the message has no text. */
  readonly text: ComparedText | null;
  /** The tags that were added. */
  readonly tags: readonly string[];
  /** Must know the verdicts on `testsOfTrigger` of each flow. */
  readonly matches: MatchPattern;
}

/** The enabled flows, the highest priority first, then the oldest. */
export async function findEnabled(
  tx: Transaction,
  organization: string,
): Promise<readonly FlowWithVersion[]> {
  return selectFlows(tx, organization)
    .where("is_enabled", "=", true)
    .orderBy("priority", "desc")
    .orderBy("flows.id")
    .execute();
}

/** The flows that react to the event. */
export async function matchingOf(
  flows: readonly FlowWithVersion[],
  occurrence: Occurrence,
): Promise<readonly FlowWithVersion[]> {
  const matching: FlowWithVersion[] = [];
  for (const flow of flows) {
    await pause();
    if (reactsTo(flow, occurrence)) {
      matching.push(flow);
    }
  }
  return matching;
}

/** The trigger of a flow, apart from a schedule. */
export type EventTrigger = Pick<
  FlowWithVersion,
  "trigger_type" | "trigger_event_type" | "trigger_tag" | "trigger_keyword" | "trigger_match"
>;

/** Whether an enabled flow with this trigger reacts to the event. */
export function reactsTo(trigger: EventTrigger, occurrence: Occurrence): boolean {
  return matchers[trigger.trigger_type](trigger, occurrence);
}

const matchers: Readonly<Record<EventTrigger["trigger_type"], Matcher>> = {
  event: ({ trigger_event_type, trigger_tag }, { event_type, tags }) =>
    trigger_event_type === event_type && (trigger_tag === null || tags.includes(trigger_tag)),
  schedule: () => false,
  keyword: (flow, { text, matches }) => text !== null && matchesKeyword(text, keywordOf(flow), matches),
};

/** The regular expressions that decide whether a message starts a flow. */
export function testsOfTrigger(flow: EventTrigger, text: string | null): readonly PatternTest[] {
  return flow.trigger_type === "keyword" && text !== null ? keywordTests(text, keywordOf(flow)) : [];
}

type Matcher = (flow: EventTrigger, occurrence: Occurrence) => boolean;

export function isForInbox({ inbox_id }: FlowWithVersion, conversation: ConversationRow): boolean {
  return inbox_id === null || inbox_id === conversation.inbox_id;
}

interface Start {
  /** Locked until the commit. */
  readonly conversation: ConversationRow;
  readonly event_id: string;
  readonly message_id: string | null;
}

/**
 * Inserts runs of a flow, each in another conversation and once for each event, for the caller to advance.
 * A result is undefined, and the reason is logged, if the run was not started.
 */
export async function startMatching(
  change: OrganizationChange,
  flow: FlowWithVersion,
  starts: readonly Start[],
): Promise<readonly (RunKey | "started_before" | undefined)[]> {
  if (starts.length > 0 && lostScopes(flow).length > 0) {
    const key = { organization_id: change.organization, flow_id: flow.id };
    await change.tx.enqueue([createSwitchOffJob(key)]);
    return starts.map(() => undefined);
  }
  const { trigger_type } = flow;
  const outcomes = await insertRuns(change, {
    flow,
    trigger_type,
    starts: starts.map(({ conversation, event_id, message_id }) => {
      return { conversation, trigger_key: message_id ?? event_id, message_id };
    }),
  });
  return outcomes.map((outcome, index) => {
    if (!("skipped" in outcome)) {
      return outcome;
    }
    if (outcome.skipped === "started_before") {
      return "started_before";
    }
    const conversation_id = starts[index]?.conversation.id ?? "";
    logSkipped(change, flow, { conversation_id, reason: outcome.skipped });
    return undefined;
  });
}

export function logSkipped(
  { world }: OrganizationChange,
  { organization_id, id: flow_id }: FlowWithVersion,
  details: { readonly reason: string; readonly conversation_id?: string; readonly contact_id?: string },
): void {
  world.log.info({ organization_id, flow_id, ...details }, "A flow that matched was not started");
}
