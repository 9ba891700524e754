/** The operation that reacts to a message with an emoji. */
import { z } from "zod";
import { describedForTools, id, one, operation, timestamp, yes } from "../contract/index.ts";

const Reaction = z.object({
  message_id: z.string(),
  conversation_id: z.string(),
  /** Null: the message has no reaction of the inbox any more. */
  emoji: z.string().nullable(),
  /** The inbox's number. */
  from: z.string(),
  at: timestamp,
});

export const reactions = {
  react_to_message: operation({
    method: "PUT",
    path: "/v1/conversations/{conversation_id}/messages/{message_id}/reaction",
    scope: "inbox:write",
    effect: "outward",
    tier: "extended",
    title: "React to message",
    description:
      "React to a message with an emoji, or remove the reaction. The inbox has one reaction to each message: a new one replaces it. Only within the 24-hour window. It is no message: it costs nothing, and the conversation stays as it is.",
    input: z.object({
      conversation_id: id("Conversation", "list_conversations"),
      message_id: id("Message", "list_messages"),
      emoji: describedForTools(
        z.string().min(1).max(64).nullable().describe("One emoji; null removes the reaction"),
        "One emoji; empty removes the reaction",
      ),
    }),
    output: one(Reaction),
    waitSeconds: 15,
    hints: {
      idempotent: yes("The same reaction again changes nothing."),
      openWorld: yes("The contact sees the reaction."),
    },
  }),
};
