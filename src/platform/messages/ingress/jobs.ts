/** The jobs that receive what a channel reported of persons, each by the person's number or, if it is hidden, id. */
import { type NewJob, newJob } from "../../../jobs/job.ts";
import type { ChannelUpdates, Identities, IdentityMove } from "../../../ports/channel.ts";
import { reporterSubject } from "../../kernel/index.ts";
import { phoneKey } from "../../phone/index.ts";
import { changeConsentJob } from "../consent-job.ts";
import { changeMessageJob } from "./changes.ts";
import { moveContactJob, receiveMessageJob } from "./receive.ts";

interface Receiver {
  readonly organization_id: string;
  readonly received_at: string;
  /** What other numbers received is left out. */
  readonly inboxes: readonly { readonly inbox_id: string; readonly phone_number_id: string }[];
}

type Person = IdentityMove["from"];

export function newReportJobs(receiver: Receiver, updates: ChannelUpdates): readonly NewJob[] {
  const { organization_id, inboxes, received_at } = receiver;
  const ids = new Map(inboxes.map(({ phone_number_id, inbox_id }) => [phone_number_id, inbox_id]));
  const isOurs = ({ phone_number_id }: { readonly phone_number_id: string }) => ids.has(phone_number_id);
  const moves = updates.moves.filter(isOurs);
  const keys = orderKeys(organization_id, moves);
  const subject = (person: Person) => subjectOf(organization_id, person);
  return [
    ...moves.map(({ phone_number_id: _, ...move }) =>
      newJob(
        moveContactJob,
        { organization_id, ...move },
        { key: keys.get(move.from), subject: subject(move.from) },
      ),
    ),
    ...updates.messages.flatMap((message) => {
      const inbox_id = ids.get(message.phone_number_id);
      const person = personOf(message);
      return inbox_id === undefined
        ? []
        : [
            newJob(
              receiveMessageJob,
              { organization_id, inbox_id, message },
              { key: keys.get(person), subject: subject(person) },
            ),
          ];
    }),
    // The times of changes and consents order them.
    ...updates.changes
      .filter(isOurs)
      .map(({ phone_number_id: _, ...change }) =>
        newJob(
          changeMessageJob,
          { organization_id, received_at, ...change },
          { subject: subject(personOf(change)) },
        ),
      ),
    ...updates.consents
      .filter(isOurs)
      .map(({ phone_number_id: _, opted_out, occurred_at, ...contact }) =>
        newJob(
          changeConsentJob,
          { organization_id, opted_out, occurred_at, contact },
          { subject: subject(personOf(contact)) },
        ),
      ),
  ];
}

function personOf(sender: {
  readonly from: string | null;
  readonly identities?: Identities | undefined;
}): Person {
  return { phone_number: sender.from, bsuid: sender.identities?.bsuid ?? null };
}

function subjectOf(organization_id: string, { phone_number, bsuid }: Person): string {
  return reporterSubject(organization_id, phone_number === null ? (bsuid ?? "") : phoneKey(phone_number));
}

/** What a person sends is received in order, and what comes from a new number after the move to it. */
function orderKeys(organization_id: string, moves: readonly IdentityMove[]) {
  const ownKey = ({ phone_number, bsuid }: Person) =>
    `message.receive:${organization_id}:${phone_number ?? bsuid}`;
  const moved = new Map<string, string>();
  const get = (person: Person) => moved.get(ownKey(person)) ?? ownKey(person);
  for (const { from, to } of moves) {
    moved.set(ownKey(to), get(from));
  }
  return { get };
}
