/** What the phone of an inbox's owner had before the inbox was connected: messages and names. */
import { type NewJob, newJob } from "../../../../../jobs/job.ts";
import type { ChannelUpdates } from "../../../../../ports/channel/channel.ts";
import type { PastMessage } from "../../../../../ports/channel/received.ts";
import { senderOf, withStoredSender } from "../../../contacts/index.ts";
import { personSubject } from "../move.ts";
import type { ReportReceiver } from "../reported-message.ts";
import { importMessagesJob } from "./import-job.ts";
import { namePersonsJob } from "./names.ts";

export { importMessagesJob } from "./import-job.ts";
export { namePersonsJob } from "./names.ts";

/** In one transaction, which locks the conversation. */
const messagesPerJob = 50;

type Updates = Pick<ChannelUpdates, "history" | "names">;

/** The messages of one person are imported together; each one with a file alone. */
export function newPhoneJobs(receiver: ReportReceiver, { history, names }: Updates): readonly NewJob[] {
  const { organization_id, received_at, inboxes } = receiver;
  const ids = new Map(inboxes.map(({ account_id, inbox_id }) => [account_id, inbox_id]));
  const imports = [...groupsOf(history).values()].flatMap((group) => {
    const [first] = group;
    const inbox_id = first && ids.get(first.account_id);
    if (!first || inbox_id === undefined) {
      return [];
    }
    const person = senderOf(first.from);
    const subject = person === "" ? {} : { subject: personSubject(organization_id, first.from) };
    // Messages that are written now do not wait for those of the past.
    const options = { key: `message.import:${organization_id}:${person}`, ...subject };
    const sorted = [...group].sort((one, other) => (one.occurred_at < other.occurred_at ? -1 : 1));
    return chunksOf(sorted.map(withStoredSender), messagesPerJob).map((messages) =>
      newJob(importMessagesJob, { organization_id, inbox_id, received_at, messages }, options),
    );
  });
  const saved = names.filter(({ account_id }) => ids.has(account_id));
  return [
    ...imports,
    ...saved.map(({ from, name }) =>
      newJob(
        namePersonsJob,
        { organization_id, received_at, ...withStoredSender({ from, name }) },
        { subject: personSubject(organization_id, from) },
      ),
    ),
  ];
}

function groupsOf(history: Updates["history"]): ReadonlyMap<string, readonly PastMessage[]> {
  const groups = new Map<string, PastMessage[]>();
  for (const message of history) {
    const { account_id, from, file, channel_message_id } = message;
    const key = [account_id, senderOf(from), file && channel_message_id].join(" ");
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(message);
  }
  return groups;
}

function chunksOf<Item>(items: readonly Item[], size: number): readonly Item[][] {
  const starts = Array.from({ length: Math.ceil(items.length / size) }, (_, index) => index * size);
  return starts.map((start) => items.slice(start, start + size));
}
