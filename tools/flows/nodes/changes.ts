/** The nodes that change the conversation and its contact. */
import { z } from "zod";
import { tag } from "../../contract/index.ts";
import { conversationStatuses } from "../../conversations.ts";
import { maxNoteLength } from "../../notes.ts";
import { duration, fallible, node, templatedText } from "./node.ts";

const id = z.string().min(1).max(64);

const tagConfig = z.strictObject({
  tag,
  on: z.enum(["contact", "conversation"]).default("contact"),
});

export const changeNodes = {
  /** Without a target, routing chooses. */
  assign: node({
    summary:
      "Assigns the conversation to a team or a user, or by a routing policy. With {}, the active routing policies choose; without any, no one is assigned.",
    examples: [{ team_id: "<team id>" }, { user_id: "<user id>" }, { policy: "<routing policy id>" }, {}],
    config: z
      .strictObject({
        team_id: id.optional(),
        user_id: id.optional(),
        /** The id of an active routing policy. */
        policy: id.optional(),
      })
      .refine(
        ({ policy, team_id, user_id }) =>
          policy === undefined || (team_id === undefined && user_id === undefined),
        "Send either policy, or team_id and user_id.",
      ),
    edges: fallible,
  }),

  unassign: node({
    summary: "Unassigns the conversation.",
    examples: [{}],
    config: z.strictObject({}),
    edges: fallible,
  }),

  chatbot: node({
    summary:
      "Gives the conversation to the chatbot, which answers the message that started the flow unless a flow has sent something, and later messages, until it hands over by routing or a person has the conversation. To let it answer everything, use this node alone with the event message.received, which leaves conversations to people who have them. error: it is not configured.",
    examples: [{}],
    config: z.strictObject({}),
    edges: ["error"],
  }),

  add_tag: node({
    summary: "Adds a tag to the contact or the conversation. It starts no flow.",
    examples: [{ tag: "vip" }, { tag: "refund", on: "conversation" }],
    config: tagConfig,
    scope: "contacts:manage",
    edges: fallible,
  }),

  remove_tag: node({
    summary: "Removes a tag.",
    examples: [{ tag: "vip" }, { tag: "refund", on: "conversation" }],
    config: tagConfig,
    scope: "contacts:manage",
    edges: fallible,
  }),

  set_attribute: node({
    summary: "Sets a member of the contact's metadata; null removes it.",
    examples: [{ name: "email", value: "{{vars.mail}}" }],
    config: z.strictObject({
      /** The name of a member of the contact's metadata. */
      name: z
        .string()
        .max(255)
        .transform((name) => name.replace(/^metadata\./, ""))
        .refine((name) => name.trim() !== "", "Send the name of an attribute, for example city."),
      /** Null removes the attribute. */
      value: z.union(
        [templatedText(4096), z.number(), z.boolean(), z.null()],
        "Send a text that is not blank, a number, true, false, or null to remove it.",
      ),
    }),
    scope: "contacts:write",
    edges: fallible,
  }),

  set_status: node({
    summary: "Changes the conversation's status.",
    examples: [{ status: "closed" }, { status: "snoozed", duration: "1d" }],
    config: z
      .strictObject({
        status: z.enum(conversationStatuses).exclude(["spam"]),
        /** The duration of a snooze; by default until the contact writes. */
        duration: duration.optional(),
      })
      .refine(
        ({ status, duration: length }) => length === undefined || status === "snoozed",
        "Send duration with the status snoozed alone.",
      ),
    edges: fallible,
  }),

  add_note: node({
    summary: "Adds an internal note to the conversation, which the contact never gets.",
    examples: [{ text: "Asked for an offer to {{vars.mail}}" }],
    config: z.strictObject({ text: templatedText(maxNoteLength) }),
    edges: fallible,
  }),
} as const;
