/** What a person does with a conversation; each act shows its result or its error. */
import { attempt } from "../controls/attempt.ts";
import { showToast } from "../controls/toast.tsx";
import { shareChange } from "../live/live.ts";
import { type Answer, call, type Input } from "../service/call.ts";
import { texts } from "../texts.ts";
import { formatMoment } from "../time.ts";

type Changes = Omit<Input<"update_conversation">, "id">;

/** Changes a conversation here and in the other tabs. @throws ServiceError, ConnectionError */
export async function updateConversation(id: string, changes: Changes): Promise<void> {
  await call("update_conversation", { id, ...changes });
  shareChange(id);
}

/** Like `updateConversation`, and shows an error in words. @returns whether it succeeded */
export function changeConversation(id: string, changes: Changes): Promise<boolean> {
  return attempt(() => updateConversation(id, changes));
}

/** A conversation as it is before an act. */
type Former = Pick<Answer<"get_conversation">["data"], "id" | "status" | "snoozed_until">;

/** Returns a conversation to its former status. @throws ServiceError, ConnectionError */
export function restoreStatus({ id, status, snoozed_until }: Former): Promise<void> {
  return updateConversation(id, { status, ...(snoozed_until === null ? {} : { snoozed_until }) });
}

/**
 * Gives a conversation from one agent to another one; null is nobody.
 *
 * @throws ServiceError, ConnectionError
 */
export function moveToAgent(id: string, from: string | null, to: string | null): Promise<unknown> {
  if (to === null) {
    return call("unassign_conversation", { id });
  }
  return from === null || from === to
    ? call("assign_conversation", { id, assigned_to: to })
    : call("transfer_conversation", { id, from_agent: from, to_agent: to });
}

/** Closes or reopens a conversation; closing can be taken back from the toast. */
export async function setClosed(former: Former, isClosed: boolean, onChange: () => void): Promise<void> {
  if (!(await changeConversation(former.id, { status: isClosed ? "closed" : "open" }))) {
    return;
  }
  onChange();
  if (isClosed) {
    showToast(texts.conversation.closed, () => void attempt(() => restoreStatus(former)).then(onChange));
  } else {
    showToast(texts.conversation.reopened);
  }
}

/** Undoing returns it to the former status, or opens it: from spam a conversation becomes open or closed. */
export async function markSpam(id: string, before: string, onChange: () => void): Promise<void> {
  if (await changeConversation(id, { status: "spam" })) {
    onChange();
    showToast(texts.conversation.markedSpam, () => {
      const status = before === "closed" ? "closed" : "open";
      void changeConversation(id, { status }).then(onChange);
    });
  }
}

const hourMs = 3_600_000;
const morning = 9;

/** The times that a conversation can be snoozed until; null: until the contact writes. */
export const snoozeTimes = {
  hour: () => new Date(Date.now() + hourMs),
  tomorrow: () => nextMorning(1),
  week: () => nextMorning(7),
  reply: () => null,
} as const satisfies Record<string, () => Date | null>;

export type SnoozeTime = keyof typeof snoozeTimes;

/** Nine o'clock of a later day in the reader's time zone. */
function nextMorning(days: number): Date {
  const date = new Date();
  date.setDate(date.getDate() + days);
  date.setHours(morning, 0, 0, 0);
  return date;
}

export async function snooze(former: Former, time: SnoozeTime, onChange: () => void): Promise<void> {
  const until = snoozeTimes[time]();
  const changes = {
    status: "snoozed",
    ...(until === null ? {} : { snoozed_until: until.toISOString() }),
  } as const;
  if (await changeConversation(former.id, changes)) {
    onChange();
    const text =
      until === null
        ? texts.conversation.snoozedUntilReply
        : texts.conversation.snoozedUntil(formatMoment(until.toISOString()));
    showToast(text, () => void attempt(() => restoreStatus(former)).then(onChange));
  }
}
