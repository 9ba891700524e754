/** The jobs that receive what a channel has reported of persons. */

import { type NewJob, newJob } from "../../../../jobs/job.ts";
import type { Identities } from "../../../../ports/channel/address.ts";
import type { ChannelUpdates, MessageChange } from "../../../../ports/channel/channel.ts";
import { withStoredSender } from "../../contacts/index.ts";
import { changeConsentJob } from "../consent-job.ts";
import { changeMessageJob } from "./change-job.ts";
import { keyAfter, moveContactJob, personKey, personSubject, toStoredMove } from "./move.ts";
import { newPhoneJobs } from "./phone/index.ts";
import { receiveMessageJob } from "./receive.ts";
import type { ReportReceiver } from "./reported-message.ts";

/** In the order in which they are added: a message from a former number comes before the move from it. */
export function newReportJobs(receiver: ReportReceiver, updates: ChannelUpdates): readonly NewJob[] {
  const { organization_id, channel, inboxes, received_at } = receiver;
  const ids = new Map(inboxes.map(({ account_id, inbox_id }) => [account_id, inbox_id]));
  const isOurs = ({ account_id }: { readonly account_id: string }) => ids.has(account_id);
  const moves = updates.moves.filter(isOurs);
  const former = new Set(moves.map(({ from }) => personKey(organization_id, from)));
  const received = updates.messages.flatMap((message) => {
    const inbox_id = ids.get(message.account_id);
    const options = senderOptions(organization_id, message.from);
    const payload = { organization_id, inbox_id: inbox_id ?? "", message: withStoredSender(message) };
    return inbox_id === undefined ? [] : [newJob(receiveMessageJob, payload, options)];
  });
  const isFormer = ({ key = "" }: NewJob) => former.has(key);
  return [
    ...received.filter(isFormer),
    ...moves.map(({ account_id: _, ...move }) => {
      const subject = personSubject(organization_id, move.from);
      return newJob(
        moveContactJob,
        { organization_id, ...toStoredMove(move) },
        { key: keyAfter(organization_id, move), subject },
      );
    }),
    ...received.filter((job) => !isFormer(job)),
    ...updates.changes
      .filter(isOurs)
      .map(({ account_id: _, ...change }) =>
        newJob(
          changeMessageJob,
          { organization_id, channel, received_at, ...withStoredSender(change) },
          changeOptions(organization_id, change),
        ),
      ),
    ...newPhoneJobs(receiver, updates),
    // The times of consents order them.
    ...updates.consents
      .filter(isOurs)
      .map(({ account_id: _, opted_out, occurred_at, from }) =>
        newJob(
          changeConsentJob,
          { organization_id, opted_out, occurred_at, contact: withStoredSender({ from }) },
          senderOptions(organization_id, from),
        ),
      ),
  ];
}

/** Options of the job of a message: the messages of one person are received in order. */
export function senderOptions(organization_id: string, sender: Identities) {
  return { key: personKey(organization_id, sender), subject: personSubject(organization_id, sender) };
}

/**
 * Options of the job of a change. The times of changes have seconds only, so the changes of one message are
 * applied in the order of their receipt. A change that waits for its message delays no change of another one.
 */
export function changeOptions(
  organization_id: string,
  { channel_message_id, from }: Pick<MessageChange, "channel_message_id" | "from">,
) {
  const key = `message.change:${organization_id}:${channel_message_id}`;
  return { key, subject: personSubject(organization_id, from) };
}
