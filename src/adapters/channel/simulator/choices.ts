/** The buttons and list rows that a phone shows, and which of them its owner means. */
import { z } from "zod";
import { ControlRefusal } from "./refusal.ts";
import type { LedgerMessage } from "./store.ts";

const Choice = z.object({ id: z.string(), title: z.string() });
export type Choice = z.output<typeof Choice>;

const Choices = z.object({
  interactive: z.object({
    buttons: z.array(Choice).default([]),
    list: z.object({ sections: z.array(z.object({ rows: z.array(Choice) })) }).optional(),
  }),
});

/** The choice with this id or title in the newest of `messages` that offers it. */
export function chosen(messages: readonly LedgerMessage[], button: string): Choice {
  const offered = messages.filter(isShown).flatMap(choicesOf);
  const found = offered.find(({ id, title }) => id === button || title === button);
  if (!found) {
    throw new ControlRefusal("button", describeMissing(button, offered));
  }
  return found;
}

function isShown({ direction, status }: LedgerMessage): boolean {
  return direction === "outbound" && status !== "failed";
}

function choicesOf({ content }: LedgerMessage): Choice[] {
  const { data } = Choices.safeParse(content);
  if (!data) {
    return [];
  }
  const { buttons, list } = data.interactive;
  return [...buttons, ...(list?.sections.flatMap((section) => section.rows) ?? [])];
}

function describeMissing(button: string, offered: readonly Choice[]): string {
  if (offered.length === 0) {
    return "No message with buttons or a list was sent to this phone.";
  }
  const names = offered.slice(0, 10).map(({ id, title }) => `${title} (${id})`);
  return `No choice ${button} was sent to this phone. Choose one of: ${names.join(", ")}.`;
}
