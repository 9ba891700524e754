/** Finds a button or list row among the messages that were sent to a phone. */
import { z } from "zod";
import { ControlInputError } from "./input-error.ts";
import type { LedgerMessage } from "./store.ts";

const ReplyChoice = z.object({ id: z.string(), title: z.string() });
export type ReplyChoice = z.output<typeof ReplyChoice>;

const InteractiveMessage = z.object({
  interactive: z
    .object({
      buttons: z.array(ReplyChoice).default([]),
      list: z.object({ sections: z.array(z.object({ rows: z.array(ReplyChoice) })) }).optional(),
    })
    .transform(({ buttons, list }) => [...buttons, ...(list?.sections.flatMap(({ rows }) => rows) ?? [])]),
});

const SentTemplate = z.object({
  template: z.object({
    buttons: z.array(z.object({ type: z.string(), text: z.string(), payload: z.string().optional() })),
  }),
});

/** The choice with this id or title in the newest of `messages` that offers it. */
export function findChoice(messages: readonly LedgerMessage[], button: string): ReplyChoice {
  const choices = messages.filter(wasDelivered).flatMap(choicesOf);
  const choice = choices.find(({ id, title }) => id === button || title === button);
  if (!choice) {
    throw new ControlInputError("button", describeMissing(button, choices));
  }
  return choice;
}

function wasDelivered({ direction, status }: LedgerMessage): boolean {
  return direction === "outbound" && status !== "failed";
}

function choicesOf({ content }: LedgerMessage): ReplyChoice[] {
  const template = SentTemplate.safeParse(content).data?.template;
  const quickReplies = template?.buttons.filter(({ type }) => type === "quick_reply") ?? [];
  return [
    ...(InteractiveMessage.safeParse(content).data?.interactive ?? []),
    ...quickReplies.map(({ text, payload }) => ({ id: payload ?? text, title: text })),
  ];
}

function describeMissing(button: string, choices: readonly ReplyChoice[]): string {
  if (choices.length === 0) {
    return "No message with buttons or a list was sent to this phone.";
  }
  const names = choices.slice(0, 10).map(({ id, title }) => `${title} (${id})`);
  return `No choice ${button} was sent to this phone. Choose one of: ${names.join(", ")}.`;
}
