/** What a person does with a conversation; each act shows its result or its error. */
import { attempt } from "../controls/attempt.ts";
import { showToast } from "../controls/toast.tsx";
import { shareChange } from "../live/live.ts";
import { call, type Input } from "../service/call.ts";
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

/** Closes or reopens a conversation; closing can be taken back from the toast. */
export async function setClosed(id: string, isClosed: boolean, onChange: () => void): Promise<void> {
  if (!(await changeConversation(id, { status: isClosed ? "closed" : "open" }))) {
    return;
  }
  onChange();
  if (isClosed) {
    showToast(texts.conversation.closed, () => void setClosed(id, false, onChange));
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

export async function snooze(id: string, time: SnoozeTime, onChange: () => void): Promise<void> {
  const until = snoozeTimes[time]();
  const changes = {
    status: "snoozed",
    ...(until === null ? {} : { snoozed_until: until.toISOString() }),
  } as const;
  if (await changeConversation(id, changes)) {
    onChange();
    const text =
      until === null
        ? texts.conversation.snoozedUntilReply
        : texts.conversation.snoozedUntil(formatMoment(until.toISOString()));
    showToast(text, () => void setClosed(id, false, onChange));
  }
}
