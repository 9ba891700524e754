/** The jobs that receive what a channel has reported of persons. */

import { type NewJob, newJob } from "../../../../jobs/job.ts";
import type { ChannelUpdates, InboundMessage, MessageChange } from "../../../../ports/channel/channel.ts";
import { phoneKey } from "../../../account/phone/index.ts";
import { reporterSubject } from "../../contacts/index.ts";
import { changeConsentJob } from "../consent-job.ts";
import { changeMessageJob } from "./change-job.ts";
import { keyAfter, moveContactJob, type Person, personKey } from "./move.ts";
import { receiveMessageJob } from "./receive.ts";

interface Receiver {
  readonly organization_id: string;
  readonly received_at: string;
  /** Reports of other accounts are left out. */
  readonly inboxes: readonly { readonly inbox_id: string; readonly account_id: string }[];
}

/** In the order in which they are added: a message from a former number comes before the move from it. */
export function newReportJobs(receiver: Receiver, updates: ChannelUpdates): readonly NewJob[] {
  const { organization_id, inboxes, received_at } = receiver;
  const ids = new Map(inboxes.map(({ account_id, inbox_id }) => [account_id, inbox_id]));
  const isOurs = ({ account_id }: { readonly account_id: string }) => ids.has(account_id);
  const moves = updates.moves.filter(isOurs);
  const former = new Set(moves.map(({ from }) => personKey(organization_id, from)));
  const received = updates.messages.flatMap((message) => {
    const inbox_id = ids.get(message.account_id);
    const options = senderOptions(organization_id, message);
    return inbox_id === undefined
      ? []
      : [newJob(receiveMessageJob, { organization_id, inbox_id, message }, options)];
  });
  const isFormer = ({ key = "" }: NewJob) => former.has(key);
  return [
    ...received.filter(isFormer),
    ...moves.map(({ account_id: _, ...move }) => {
      const subject = subjectOf(organization_id, move.from);
      return newJob(
        moveContactJob,
        { organization_id, ...move },
        { key: keyAfter(organization_id, move), subject },
      );
    }),
    ...received.filter((job) => !isFormer(job)),
    ...updates.changes
      .filter(isOurs)
      .map(({ account_id: _, ...change }) =>
        newJob(
          changeMessageJob,
          { organization_id, received_at, ...change },
          changeOptions(organization_id, change),
        ),
      ),
    // The times of consents order them.
    ...updates.consents
      .filter(isOurs)
      .map(({ account_id: _, opted_out, occurred_at, ...contact }) =>
        newJob(
          changeConsentJob,
          { organization_id, opted_out, occurred_at, contact },
          senderOptions(organization_id, contact),
        ),
      ),
  ];
}

type Sender = Pick<InboundMessage, "from" | "identities">;

/** Options of the job of a message: the messages of one person are received in order. */
export function senderOptions(organization_id: string, sender: Sender) {
  const person = personOf(sender);
  return { key: personKey(organization_id, person), subject: subjectOf(organization_id, person) };
}

/**
 * Options of the job of a change. The times of changes have seconds only, so the changes of one message are
 * applied in the order of their receipt. A change that waits for its message delays no change of another one.
 */
export function changeOptions(
  organization_id: string,
  { channel_message_id, ...sender }: Sender & Pick<MessageChange, "channel_message_id">,
) {
  const key = `message.change:${organization_id}:${channel_message_id}`;
  return { key, subject: subjectOf(organization_id, personOf(sender)) };
}

function personOf({ from, identities }: Sender): Person {
  return { phone_number: from, bsuid: identities?.bsuid ?? null };
}

function subjectOf(organization_id: string, { phone_number, bsuid }: Person): string {
  return reporterSubject(organization_id, phone_number === null ? (bsuid ?? "") : phoneKey(phone_number));
}
