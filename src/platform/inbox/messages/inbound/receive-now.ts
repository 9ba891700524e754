/**
 * Receives what a channel reports while its caller waits for the result, as the simulated phone does.
 *
 * First the job of the report is stored, as for every channel, but to start ten seconds later. Then the
 * report is stored at once, in a transaction that also deletes the job. If the process dies in between, or
 * the transaction fails, a worker runs the job.
 */
import { fail } from "../../../../../tools/errors.ts";
import { newId } from "../../../../database/id.ts";
import { coalesce } from "../../../../database/sharing/index.ts";
import { together } from "../../../../database/transaction.ts";
import { type NewJob, newJob } from "../../../../jobs/job.ts";
import type { InboundMessage, MessageChange } from "../../../../ports/channel/channel.ts";
import { getInbox } from "../../../account/inboxes/index.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import { withStoredSender } from "../../contacts/index.ts";
import { changeMessageJob } from "./change-job.ts";
import { applyChange } from "./changes.ts";
import { changeOptions, senderOptions } from "./jobs.ts";
import { receiveMessageJob } from "./receive.ts";
import { type MessageNames, type MessageToStore, storeMessage } from "./store/index.ts";

/** If storing the report takes longer, a worker stores it too, and one of the two finds it stored. */
const takeoverMs = 10_000;

const takeoverTime = (world: World) => new Date(world.now().getTime() + takeoverMs);

/** @throws Failure `no_inbox`, `inbox_not_found`. */
export async function receiveMessage(world: World, inbound: InboundMessage): Promise<MessageNames> {
  const accepted = await acceptMessage(world, inbound);
  if (!accepted) {
    throw inbound.to === null ? fail("no_inbox") : fail("inbox_not_found", { param: "to" });
  }
  return storeMessage(world, accepted);
}

/** Stores the jobs of messages that arrive together; undefined for a message to an unknown inbox. */
const acceptMessage = coalesce(
  (world: World, messages: readonly InboundMessage[]) =>
    world.database.transaction(async (tx) => {
      const accepted = await together(...messages.map((message) => findInboxOf(tx, world, message)));
      await tx.enqueue(accepted.flatMap((one) => (one ? newMessageJob(world, one) : [])));
      return accepted;
    }),
  ({ organization_id }) => organization_id,
);

type AcceptedMessage = MessageToStore & { readonly job_id: string };

async function findInboxOf(
  tx: Transaction,
  world: World,
  { organization_id, channel, to, ...sent }: InboundMessage,
): Promise<AcceptedMessage | undefined> {
  const inbox = await getInbox(tx, organization_id, { phone_number: to, channel });
  const message = { ...sent, file: null };
  const job_id = newId("job", world.now());
  return inbox && { organization_id, inbox_id: inbox.id, message, file: null, job_id };
}

function newMessageJob(
  world: World,
  { organization_id, inbox_id, message, job_id: id }: AcceptedMessage,
): NewJob {
  const payload = { organization_id, inbox_id, message: withStoredSender(message) };
  const options = { ...senderOptions(organization_id, message.from), id, runAt: takeoverTime(world) };
  return newJob(receiveMessageJob, payload, options);
}

/** Undefined if the message is not known, or if the sender of an edit or a deletion is not. */
export async function receiveChange(world: World, change: MessageChange): Promise<MessageNames | undefined> {
  const now = world.now();
  const id = newId("job", now);
  const payload = { ...withStoredSender(change), received_at: now.toISOString() };
  const options = { ...changeOptions(change.organization_id, change), id, runAt: takeoverTime(world) };
  await world.database.transaction((tx) => tx.enqueue([newJob(changeMessageJob, payload, options)]));
  return applyChange(world, change, id);
}
