/** Notes: internal texts of a conversation, which no channel sends. */
import { z } from "zod";
import { id, one, operation, paged, paging, RecordedActor, timestamp, untrusted } from "./contract/index.ts";

export const maxNoteLength = 4096;

export const Note = z.object({
  id: z.string(),
  conversation_id: z.string(),
  /** A flow may have filled in what the contact wrote. */
  text: untrusted(z.string()),
  author: RecordedActor,
  /** The ids of the users whom the note is for. */
  mentions: z.array(z.string()),
  created_at: timestamp,
});

const conversation_id = id("Conversation", "list_conversations");

export const notes = {
  add_note: operation({
    method: "POST",
    path: "/v1/conversations/{conversation_id}/notes",
    scope: "inbox:write",
    tier: "lean",
    title: "Add note",
    description:
      "Add an internal note to a conversation, never sent to the contact. get_conversation_context shows it.",
    input: z.object({
      conversation_id,
      text: z.string().trim().min(1).max(maxNoteLength).describe("Text of the note"),
      mentions: z.array(z.string().max(64)).max(10).default([]).describe("Users, from list_users"),
    }),
    output: one(Note),
    status: 201,
  }),

  list_notes: operation({
    method: "GET",
    path: "/v1/conversations/{conversation_id}/notes",
    scope: "inbox:read",
    title: "List notes",
    description: "List a conversation's internal notes with their authors, newest first.",
    input: z.object({ conversation_id, ...paging(25) }),
    output: paged(Note),
    tier: "extended",
  }),
};

export const noteEvents = {
  "note.created": {
    scope: "inbox:read",
    data: z.object({
      note_id: z.string(),
      conversation_id: z.string(),
      text: z.string(),
      author: RecordedActor,
      mentions: z.array(z.string()),
      created_at: timestamp,
    }),
  },
} as const;
