/**
 * The job that an event starts: gives a message to the run that waits for a reply, and then starts the flows that match.
 *
 * All of it is one transaction, and repeating it changes nothing: a wait takes only a later message than its own, and an event
 * starts a flow once.
 */
import { z } from "zod";
import type { Transaction } from "../../../database/database.ts";
import type { OrganizationChange } from "../../kernel/index.ts";
import { defineJob, system } from "../../kernel/index.ts";
import { type FlowWithVersion, selectFlows } from "../find.ts";
import { matchesKeyword } from "../keywords.ts";
import {
  cancelRuns,
  createAdvanceJob,
  endWait,
  findInteractiveRun,
  keyOf,
  lockConversationSubject,
  readInbound,
  type Subject,
  selectActiveRuns,
  startRun,
  storeRun,
} from "../run/index.ts";

const Payload = z.object({
  organization_id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  conversation_id: z.string(),
  message_id: z.string().nullable(),
  failed_id: z.string().optional(),
});
type Payload = z.infer<typeof Payload>;

export const triggerJob = defineJob<Payload>({
  name: "flow.trigger",
  payload: Payload,

  async run(payload, world) {
    const { organization_id: organization, conversation_id } = payload;
    await world.database.transaction(async (tx) => {
      const change = { tx, world, now: world.now(), actor: system, organization };
      const subject = await lockConversationSubject(tx, organization, conversation_id);
      if (subject) {
        await react(change, subject, payload);
      }
    });
    return undefined;
  },
});

async function react(change: OrganizationChange, subject: Subject, payload: Payload): Promise<void> {
  const { tx, organization } = change;
  const { conversation, contact } = subject;
  if (contact.blocked_at !== null) {
    await cancelRuns(change, { reason: "blocked", conversation_id: conversation.id });
    return;
  }
  if (conversation.status === "spam" || (await isOfFlow(tx, organization, payload.failed_id))) {
    return;
  }
  // Before the reply is given: the run that it ends was active when the contact wrote.
  const active = await findInteractiveRun(tx, organization, conversation.id);
  if (payload.message_id !== null) {
    await giveReply(change, subject, payload.message_id);
  }
  await startMatching(change, subject, { payload, isBusy: active !== undefined });
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
  { conversation }: Subject,
  message_id: string,
): Promise<void> {
  const { tx, world, organization } = change;
  const runs = await selectActiveRuns(tx, organization, conversation.id).forUpdate().execute();
  for (const run of runs) {
    const resumed = endWait(run, { type: "reply", later: message_id });
    if (resumed) {
      await storeRun(change, run, { ...resumed, message_id });
      await world.jobs.enqueueAll(tx, [createAdvanceJob(keyOf(run))]);
    }
  }
}

/** Starts the flows that match, the highest priority first, then the oldest. */
async function startMatching(
  change: OrganizationChange,
  { conversation }: Subject,
  { payload, isBusy }: { readonly payload: Payload; readonly isBusy: boolean },
): Promise<void> {
  const { world } = change;
  let isTaken = isBusy;
  for (const flow of await findMatching(change, conversation, payload)) {
    const skipped =
      isTaken && flow.is_interactive
        ? "interactive_run_active"
        : await start(change, { flow, conversation, payload });
    if (skipped === undefined) {
      isTaken ||= flow.is_interactive;
    } else if (skipped !== "started_before") {
      const { organization_id, id: flow_id } = flow;
      world.log.info(
        { organization_id, flow_id, conversation_id: conversation.id, reason: skipped },
        "A flow that matched was not started",
      );
    }
  }
}

async function start(
  change: OrganizationChange,
  {
    flow,
    conversation,
    payload,
  }: {
    readonly flow: FlowWithVersion;
    readonly conversation: Subject["conversation"];
    readonly payload: Payload;
  },
) {
  const { message_id, event_id } = payload;
  const { trigger_type } = flow;
  const trigger_key = message_id ?? event_id;
  const started = await startRun(change, { flow, conversation, trigger_type, trigger_key, message_id });
  return "skipped" in started ? started.skipped : undefined;
}

async function findMatching(
  { tx, organization }: OrganizationChange,
  { inbox_id }: Subject["conversation"],
  { event_type, message_id }: Payload,
): Promise<readonly FlowWithVersion[]> {
  const flows = await selectFlows(tx, organization)
    .where("is_enabled", "=", true)
    .where(({ or, eb }) => or([eb("inbox_id", "is", null), eb("inbox_id", "=", inbox_id)]))
    .orderBy("priority", "desc")
    .orderBy("flows.id")
    .execute();
  const text = (await readInbound(tx, organization, message_id))?.text ?? null;
  return flows.filter((flow) => matchers[flow.trigger_type](flow, { event_type, text }));
}

/** Whether a flow of each type of trigger reacts to an event. */
const matchers: Readonly<Record<FlowWithVersion["trigger_type"], Matcher>> = {
  event: ({ trigger_event_type }, { event_type }) => trigger_event_type === event_type,
  schedule: () => false,
  keyword: ({ trigger_keyword, trigger_match }, { text }) =>
    text !== null && matchesKeyword(text, trigger_keyword ?? "", trigger_match ?? "word"),
};

type Matcher = (
  flow: FlowWithVersion,
  event: { readonly event_type: string; readonly text: string | null },
) => boolean;
