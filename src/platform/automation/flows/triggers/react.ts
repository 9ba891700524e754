/**
 * Reacts to events of conversations: gives each message to the runs that wait for a reply, and starts the
 * matching flows. Events of several conversations cost as many statements as one, for each flow that matches.
 */

import { sql } from "kysely";
import { ofOrganization } from "../../../../database/query/index.ts";
import { together } from "../../../../database/transaction.ts";
import {
  type OrganizationChange,
  system,
  type Transaction,
  type World,
} from "../../../foundation/kernel/index.ts";
import { lockConversationSubjects, type Subject } from "../../../inbox/conversations/index.ts";
import type { FlowWithVersion } from "../definitions/find.ts";
import {
  cancelRuns,
  endWait,
  type InboundText,
  lockInteractiveRuns,
  type RunRow,
  readInboundTexts,
  recordTimeout,
  storeRuns,
} from "../run/index.ts";
import { readComparedText } from "../texts/keywords.ts";
import type { VerdictAttempt, Verdicts } from "../texts/patterns.ts";
import {
  findEnabled,
  isForInbox,
  logSkipped,
  matchingOf,
  startMatching,
  testsOfTrigger,
} from "./matching.ts";

/** An event of a conversation to react to. */
export interface Occasion {
  readonly organization_id: string;
  readonly payload: {
    readonly event_id: string;
    readonly event_type: string;
    readonly conversation_id: string;
    /** The message that the contact wrote. */
    readonly message_id: string | null;
    /** The message that failed. */
    readonly failed_id?: string | undefined;
    /** The time of the message whose window expires. */
    readonly last_user_message_at?: string | undefined;
  };
  readonly verdicts: Verdicts;
}

/** The result of an event; undefined if it needs a transaction of its own. */
type Attempt = VerdictAttempt<void> | undefined;

type Attempts = Map<Occasion, Attempt>;

/**
 * Reacts to events of one organization. Writes nothing for an event that needs verdicts that are not known
 * yet.
 * @returns the results in the order of the events.
 */
export async function react(
  tx: Transaction,
  world: World,
  occasions: readonly Occasion[],
  { waitsForLocks }: { readonly waitsForLocks: boolean },
): Promise<readonly Attempt[]> {
  const [organization = ""] = occasions.map(({ organization_id }) => organization_id);
  const change = { tx, world, now: world.now(), actor: system, organization };
  const attempts: Attempts = new Map();
  const found = await lockAll(change, occasions, { attempts, waitsForLocks });
  const relevant = await selectRelevant(change, found);
  if (relevant.length > 0) {
    await reactTo(change, await readAll(change, relevant), attempts);
  }
  return occasions.map((occasion) => attempts.get(occasion));
}

/** An event with the locked subject of its conversation. */
interface Found {
  readonly occasion: Occasion;
  readonly subject: Subject;
}

/**
 * Locks the subjects. The second event of a contact needs a transaction of its own: the limit of runs counts
 * the runs that the first has started.
 */
async function lockAll(
  { tx, organization }: OrganizationChange,
  occasions: readonly Occasion[],
  { attempts, waitsForLocks }: { readonly attempts: Attempts; readonly waitsForLocks: boolean },
): Promise<readonly Found[]> {
  const ids = occasions.map(({ payload }) => payload.conversation_id);
  const subjectOf = await lockConversationSubjects(tx, organization, { ids, waitsForLocks });
  const contacts = new Set<string>();
  return occasions.flatMap((occasion) => {
    const subject = subjectOf(occasion.payload.conversation_id);
    if (subject === "locked" || (subject && contacts.has(subject.contact.id))) {
      return [];
    }
    attempts.set(occasion, { result: undefined });
    if (!subject) {
      return [];
    }
    contacts.add(subject.contact.id);
    return { occasion, subject };
  });
}

/** Leaves out events that start nothing. Cancels the runs of blocked contacts. */
async function selectRelevant(
  change: OrganizationChange,
  found: readonly Found[],
): Promise<readonly Found[]> {
  const failedIds = found.flatMap(({ occasion }) => occasion.payload.failed_id ?? []);
  const ofFlows = await findSentByFlows(change, failedIds);
  for (const { subject } of found.filter(isBlocked)) {
    await cancelRuns(change, { reason: "blocked", conversation_id: subject.conversation.id });
  }
  return found.filter((one) => {
    const { conversation } = one.subject;
    const { last_user_message_at = conversation.last_user_message_at, failed_id } = one.occasion.payload;
    const isRenewed = conversation.last_user_message_at !== last_user_message_at;
    const isOfFlow = failed_id !== undefined && ofFlows.has(failed_id);
    return !isBlocked(one) && conversation.status !== "spam" && !isRenewed && !isOfFlow;
  });
}

const isBlocked = ({ subject: { contact } }: Found) => contact.blocked_at !== null;

/** Those of the messages that a flow sent. */
async function findSentByFlows(
  { tx, organization }: OrganizationChange,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) {
    return new Set();
  }
  const messages = await ofOrganization(tx, organization)
    .selectFrom("messages")
    .select(["id", "sent_by"])
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
  return new Set(messages.flatMap(({ id, sent_by }) => (sent_by?.type === "flow" ? id : [])));
}

/** An event with the flows that may react to it. */
interface Read extends Found {
  readonly message: InboundText | undefined;
  /** The enabled flows for the conversation's inbox, the highest priority first. */
  readonly flows: readonly FlowWithVersion[];
}

interface AllRead {
  readonly events: readonly Read[];
  readonly flows: readonly FlowWithVersion[];
}

async function readAll(change: OrganizationChange, found: readonly Found[]): Promise<AllRead> {
  const { tx, organization } = change;
  const ids = found.flatMap(({ occasion }) => occasion.payload.message_id ?? []);
  const [messages, flows] = await together(
    readInboundTexts(tx, organization, ids),
    findEnabled(tx, organization),
  );
  const events = found.map(({ occasion, subject }) => ({
    occasion,
    subject,
    message: messages.get(occasion.payload.message_id),
    flows: flows.filter((flow) => isForInbox(flow, subject.conversation)),
  }));
  return { events, flows };
}

async function reactTo(
  change: OrganizationChange,
  { events, flows }: AllRead,
  attempts: Attempts,
): Promise<void> {
  const known = events.filter((event) => {
    const unknown = event.flows.flatMap((flow) => testsOfTrigger(flow, textOf(event)));
    const isKnown = event.occasion.verdicts.isKnown(unknown);
    if (!isKnown) {
      attempts.set(event.occasion, { unknown });
    }
    return isKnown;
  });
  if (known.length === 0) {
    return;
  }
  const conversationIds = known.map(({ subject }) => subject.conversation.id);
  // Only interactive runs wait for replies.
  const active = await lockInteractiveRuns(change.tx, change.organization, conversationIds);
  await giveReplies(change, known, active);
  await recordTimeouts(change, known);
  // A run counts even if the reply has ended it, because it was active when the contact wrote.
  const busy = new Set(active.map(({ conversation_id }) => conversation_id));
  await startAll(change, { flows, busy, matches: await matchAll(known) });
}

const textOf = ({ message }: Read): string | null => message?.text ?? null;

/** Gives the messages to the runs of their conversations that wait for a reply. */
async function giveReplies(
  change: OrganizationChange,
  events: readonly Read[],
  runs: readonly RunRow[],
): Promise<void> {
  const resumed = events.flatMap(({ occasion: { payload } }) => {
    const { message_id, conversation_id } = payload;
    if (message_id === null) {
      return [];
    }
    return runs.flatMap((run) => {
      const isOfConversation = run.conversation_id === conversation_id;
      const state = isOfConversation ? endWait(run, { type: "reply", message_id }) : undefined;
      return state ? [{ run, state: { ...state, message_id } }] : [];
    });
  });
  if (resumed.length > 0) {
    await storeRuns(change, change.organization, resumed);
  }
}

async function recordTimeouts(change: OrganizationChange, events: readonly Read[]): Promise<void> {
  for (const event of events) {
    const { occasion, subject, flows } = event;
    const { event_id, message_id } = occasion.payload;
    const { conversation } = subject;
    const { isTimedOut } = occasion.verdicts;
    const starts = [{ conversation, trigger_key: message_id ?? event_id, message_id }];
    for (const flow of flows.filter((one) => testsOfTrigger(one, textOf(event)).some(isTimedOut))) {
      await recordTimeout(change, { flow, trigger_type: "keyword", starts });
    }
  }
}

/** The flows that react to an event. */
interface Match extends Read {
  readonly matching: ReadonlySet<FlowWithVersion>;
}

async function matchAll(events: readonly Read[]): Promise<readonly Match[]> {
  const all: Match[] = [];
  for (const event of events) {
    const { occasion, flows } = event;
    const text = textOf(event);
    const matching = await matchingOf(flows, {
      event_type: occasion.payload.event_type,
      text: text === null ? null : readComparedText(text),
      tags: [],
      matches: occasion.verdicts.matches,
    });
    all.push({ ...event, matching: new Set(matching) });
  }
  return all;
}

/** Starts the matching flows. A flow that may wait for replies is not started beside another one. */
async function startAll(
  change: OrganizationChange,
  {
    flows,
    busy,
    matches,
  }: {
    readonly flows: readonly FlowWithVersion[];
    /** The conversations that have a run that may wait for replies. */
    readonly busy: ReadonlySet<string>;
    readonly matches: readonly Match[];
  },
): Promise<void> {
  const taken = new Set(busy);
  for (const flow of flows) {
    const matched = matches.filter(({ matching }) => matching.has(flow));
    const isTaken = ({ subject }: Match) => flow.is_interactive && taken.has(subject.conversation.id);
    for (const { subject } of matched.filter(isTaken)) {
      const conversation_id = subject.conversation.id;
      logSkipped(change, flow, { conversation_id, reason: "interactive_run_active" });
    }
    const starts = matched
      .filter((match) => !isTaken(match))
      .map(({ occasion: { payload }, subject: { conversation } }) => ({ ...payload, conversation }));
    const started = await startMatching(change, flow, starts);
    for (const [index, { conversation }] of starts.entries()) {
      if (flow.is_interactive && started[index]) {
        taken.add(conversation.id);
      }
    }
  }
}
