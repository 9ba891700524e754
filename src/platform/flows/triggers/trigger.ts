/**
 * The job that an event of a conversation starts: gives a message to the run that waits for a reply, and then starts the flows that match.
 *
 * All of it is one transaction, and repeating it changes nothing: a wait takes only a later message than its own, and an event
 * starts a flow once. Then the job advances the runs, as `flow.advance` would: a job of their own would delay the answer.
 */

import { z } from "zod";
import type { Transaction } from "../../../database/database.ts";
import { together } from "../../../database/transaction.ts";
import { lockConversationSubject, type Subject } from "../../conversations/index.ts";
import type { OrganizationChange } from "../../kernel/index.ts";
import { defineJob, system } from "../../kernel/index.ts";
import {
  advance,
  cancelRuns,
  createAdvanceJob,
  endWait,
  keyOf,
  type RunRow,
  readInbound,
  selectActiveRuns,
  storeRun,
} from "../run/index.ts";
import { findEnabled, isForInbox, logSkipped, matchingOf, start } from "./matching.ts";

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
    const running = await world.database.transaction(async (tx) => {
      const change = { tx, world, now: world.now(), actor: system, organization };
      const subject = await lockConversationSubject(tx, organization, conversation_id);
      if (!subject) {
        return [];
      }
      await react(change, subject, payload);
      // Also those of an earlier attempt.
      return selectRunning(tx, payload).execute();
    });
    for (const run of running) {
      if (await advance(world, keyOf(run), signal)) {
        return { runAgainAt: world.now() };
      }
    }
    return undefined;
  },

  /** The runs have attempts of their own. */
  async exhausted(payload, world) {
    await world.database.transaction(async (tx) => {
      const running = await selectRunning(tx, payload).execute();
      await world.jobs.enqueueAll(
        tx,
        running.map((run) => createAdvanceJob(keyOf(run))),
      );
    });
  },
});

/** The runs of the conversation that have something to do, in the order of their start. */
function selectRunning(tx: Transaction, { organization_id, conversation_id }: Payload) {
  return selectActiveRuns(tx, organization_id, conversation_id).where("status", "=", "running").orderBy("id");
}

async function react(change: OrganizationChange, subject: Subject, payload: Payload): Promise<void> {
  const { tx, organization } = change;
  const { conversation, contact } = subject;
  if (contact.blocked_at !== null) {
    await cancelRuns(change, { reason: "blocked", conversation_id: conversation.id });
    return;
  }
  const { last_user_message_at = conversation.last_user_message_at, failed_id } = payload;
  const isRenewed = conversation.last_user_message_at !== last_user_message_at;
  if (conversation.status === "spam" || isRenewed || (await isOfFlow(tx, organization, failed_id))) {
    return;
  }
  const active = await selectActiveRuns(tx, organization, conversation.id).forUpdate().execute();
  if (payload.message_id !== null) {
    await giveReply(change, active, payload.message_id);
  }
  // Also if the reply has ended it: it was active when the contact wrote.
  await startMatching(change, subject, { payload, isBusy: active.some((run) => run.is_interactive) });
}

/** Whether a flow sent this message. */
async function isOfFlow(tx: Transaction, organization: string, message_id: string | undefined) {
  if (message_id === undefined) {
    return false;
  }
  const message = await tx
    .selectFrom("messages")
    .select("sent_by")
    .where("organization_id", "=", organization)
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
    const resumed = endWait(run, { type: "reply", later: message_id });
    if (resumed) {
      await storeRun(change, run, { ...resumed, message_id });
    }
  }
}

/** Starts the flows that match. One that may wait for replies is not started beside another one. */
async function startMatching(
  change: OrganizationChange,
  { conversation }: Subject,
  { payload, isBusy }: { readonly payload: Payload; readonly isBusy: boolean },
): Promise<void> {
  const { tx, organization } = change;
  const { event_id, event_type, message_id } = payload;
  const [message, flows] = await together(
    readInbound(tx, organization, message_id),
    findEnabled(tx, organization),
  );
  const matching = matchingOf(flows, { event_type, text: message?.text ?? null, tags: [] });
  let isTaken = isBusy;
  for (const flow of matching.filter((one) => isForInbox(one, conversation))) {
    if (isTaken && flow.is_interactive) {
      logSkipped(change, flow, { conversation_id: conversation.id, reason: "interactive_run_active" });
    } else if (await start(change, { flow, conversation, event_id, message_id })) {
      isTaken ||= flow.is_interactive;
    }
  }
}
