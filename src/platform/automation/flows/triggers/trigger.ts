/**
 * The job for an event of a conversation. Gives a message to the run that waits for a reply, and then starts
 * the matching flows.
 *
 * Both happen in one transaction, and the job may be repeated: a wait accepts only messages that are later
 * than the wait, and an event starts a flow once. Then the job advances the runs like `flow.advance`, because
 * another job would delay the answer.
 */

import { z } from "zod";
import { ofOrganization } from "../../../../database/query/index.ts";
import { together } from "../../../../database/transaction.ts";
import {
  defineJob,
  type OrganizationChange,
  system,
  type Transaction,
} from "../../../foundation/kernel/index.ts";
import { lockConversationSubject, type Subject } from "../../../inbox/conversations/index.ts";
import type { FlowWithVersion } from "../definitions/find.ts";
import {
  advance,
  cancelRuns,
  createAdvanceJob,
  endWait,
  keyOf,
  type RunRow,
  readInboundText,
  recordTimeout,
  selectActiveRuns,
  storeRun,
} from "../run/index.ts";
import { readComparedText } from "../texts/keywords.ts";
import {
  createVerdicts,
  transactWithVerdicts,
  type VerdictAttempt,
  type Verdicts,
} from "../texts/patterns.ts";
import { findEnabled, isForInbox, logSkipped, matchingOf, start, testsOfTrigger } from "./matching.ts";

const Payload = z.object({
  organization_id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  conversation_id: z.string(),
  message_id: z.string().nullable(),
  failed_id: z.string().optional(),
  last_user_message_at: z.string().optional(),
});
type Payload = z.infer<typeof Payload>;

export const triggerJob = defineJob<Payload>({
  name: "flow.trigger",
  payload: Payload,

  async run(payload, world, { signal }) {
    const { organization_id: organization, conversation_id } = payload;
    const verdicts = createVerdicts(world);
    const running = await transactWithVerdicts(world, verdicts, async (tx) => {
      const change = { tx, world, now: world.now(), actor: system, organization };
      const subject = await lockConversationSubject(tx, organization, conversation_id);
      const attempt = subject && (await react(change, subject, { payload, verdicts }));
      // Includes runs that an earlier attempt started.
      const runs = async () => ({ result: subject ? await selectRunning(tx, payload).execute() : [] });
      return attempt && "unknown" in attempt ? attempt : runs();
    });
    for (const run of running) {
      if (await advance(world, keyOf(run), signal)) {
        return { runAgainAt: world.now() };
      }
    }
    return undefined;
  },

  /** Each run gets a job with attempts of its own. */
  async exhausted(payload, world) {
    await world.database.transaction(async (tx) => {
      const running = await selectRunning(tx, payload).execute();
      await tx.enqueue(running.map((run) => createAdvanceJob(keyOf(run))));
    });
  },
});

/** The runs of the conversation that have something to do, in the order of their start. */
function selectRunning(tx: Transaction, { organization_id, conversation_id }: Payload) {
  return ofOrganization(tx, organization_id)
    .selectFrom("flow_runs")
    .select(["organization_id", "conversation_id", "contact_id", "id"])
    .where("conversation_id", "=", conversation_id)
    .where("status", "=", "running")
    .orderBy("id");
}

interface Reaction {
  readonly payload: Payload;
  readonly verdicts: Verdicts;
}

/** Writes nothing if it needs verdicts that are not known yet. */
async function react(
  change: OrganizationChange,
  subject: Subject,
  { payload, verdicts }: Reaction,
): Promise<VerdictAttempt<void>> {
  const { tx, organization } = change;
  const { conversation, contact } = subject;
  if (contact.blocked_at !== null) {
    await cancelRuns(change, { reason: "blocked", conversation_id: conversation.id });
    return { result: undefined };
  }
  const { last_user_message_at = conversation.last_user_message_at, failed_id } = payload;
  const isRenewed = conversation.last_user_message_at !== last_user_message_at;
  if (conversation.status === "spam" || isRenewed || (await isOfFlow(tx, organization, failed_id))) {
    return { result: undefined };
  }
  const [message, enabled] = await together(
    readInboundText(tx, organization, payload.message_id),
    findEnabled(tx, organization),
  );
  const text = message?.text ?? null;
  const flows = enabled.filter((flow) => isForInbox(flow, conversation));
  const unknown = flows.flatMap((flow) => testsOfTrigger(flow, text));
  if (!verdicts.isKnown(unknown)) {
    return { unknown };
  }
  // Only interactive runs wait for replies.
  const active = await selectActiveRuns(tx, organization, conversation.id)
    .where("is_interactive", "=", true)
    .forUpdate()
    .execute();
  if (payload.message_id !== null) {
    await giveReply(change, active, payload.message_id);
  }
  const { event_id, message_id } = payload;
  for (const flow of flows.filter((one) => testsOfTrigger(one, text).some(verdicts.isTimedOut))) {
    const trigger_key = message_id ?? event_id;
    await recordTimeout(change, { flow, conversation, trigger_type: "keyword", trigger_key, message_id });
  }
  const compared = text === null ? null : readComparedText(text);
  const { matches } = verdicts;
  const occurrence = { event_type: payload.event_type, text: compared, tags: [], matches };
  // A run counts even if the reply has ended it, because it was active when the contact wrote.
  const isBusy = active.length > 0;
  const matching = await matchingOf(flows, occurrence);
  await startMatching(change, subject, { payload, isBusy, matching });
  return { result: undefined };
}

/** Whether a flow sent this message. */
async function isOfFlow(tx: Transaction, organization: string, message_id: string | undefined) {
  if (message_id === undefined) {
    return false;
  }
  const message = await ofOrganization(tx, organization)
    .selectFrom("messages")
    .select("sent_by")
    .where("id", "=", message_id)
    .executeTakeFirst();
  return message?.sent_by?.type === "flow";
}

/** Gives a message to the runs of the conversation that wait for a reply. */
async function giveReply(
  change: OrganizationChange,
  runs: readonly RunRow[],
  message_id: string,
): Promise<void> {
  for (const run of runs) {
    const resumed = endWait(run, { type: "reply", message_id });
    if (resumed) {
      await storeRun(change, run, { ...resumed, message_id });
    }
  }
}

/** Starts the matching flows. A flow that may wait for replies is not started beside another one. */
async function startMatching(
  change: OrganizationChange,
  { conversation }: Subject,
  {
    payload: { event_id, message_id },
    isBusy,
    matching,
  }: {
    readonly payload: Payload;
    readonly isBusy: boolean;
    readonly matching: readonly FlowWithVersion[];
  },
): Promise<void> {
  let isTaken = isBusy;
  for (const flow of matching) {
    if (isTaken && flow.is_interactive) {
      logSkipped(change, flow, { conversation_id: conversation.id, reason: "interactive_run_active" });
    } else if (await start(change, { flow, conversation, event_id, message_id })) {
      isTaken ||= flow.is_interactive;
    }
  }
}
