/** Quick replies: saved texts that agents insert by a short code. */
import { z } from "zod";
import {
  all,
  DeletionResult,
  type ErrorEntry,
  errorEntry,
  id,
  one,
  operation,
  timestamp,
} from "./contract/index.ts";

const QuickReply = z.object({
  id: z.string(),
  organization_id: z.string(),
  short_code: z.string(),
  content: z.string(),
  created_by: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

const short_code = z.string().trim().min(1).max(64).describe("Like hours");
const content = z.string().min(1).max(4096).describe("Text to reply with");
const quickReplyId = id("Quick reply", "list_quick_replies");

export const quickReplies = {
  create_quick_reply: operation({
    method: "POST",
    path: "/v1/quick-replies",
    scope: "inbox:write",
    title: "Create quick reply",
    description: "Save a frequently used text under a short code. It sends nothing.",
    input: z.object({ short_code, content }),
    output: one(QuickReply),
    status: 201,
  }),

  list_quick_replies: operation({
    method: "GET",
    path: "/v1/quick-replies",
    scope: "inbox:read",
    tier: "lean",
    title: "List quick replies",
    description: "List or search the saved replies. Send a reply's content with send_message.",
    input: z.object({
      search: z.string().max(255).optional().describe("Part of a short code or text"),
    }),
    output: all(QuickReply),
  }),

  get_quick_reply: operation({
    method: "GET",
    path: "/v1/quick-replies/{id}",
    scope: "inbox:read",
    title: "Get quick reply",
    description: "Get one saved reply.",
    input: z.object({ id: quickReplyId }),
    output: one(QuickReply),
    tier: "extended",
  }),

  update_quick_reply: operation({
    method: "PUT",
    path: "/v1/quick-replies/{id}",
    scope: "inbox:write",
    title: "Update quick reply",
    description: "Change a saved reply's short code or text. Only the fields sent change.",
    input: z.object({ id: quickReplyId, short_code: short_code.optional(), content: content.optional() }),
    output: one(QuickReply),
  }),

  delete_quick_reply: operation({
    method: "DELETE",
    path: "/v1/quick-replies/{id}",
    scope: "inbox:write",
    title: "Delete quick reply",
    description: "Delete a saved reply. This can't be undone.",
    input: z.object({ id: quickReplyId }),
    output: one(DeletionResult),
  }),
};

export const quickReplyErrors = {
  quick_reply_exists: errorEntry(
    "conflict",
    409,
    "A quick reply with this short code already exists.",
    "Use another short code, or change the one in existing_id.",
  ),
  quick_reply_not_found: errorEntry(
    "not_found",
    404,
    "There is no quick reply with this id.",
    "Find the id with list_quick_replies (GET /v1/quick-replies).",
  ),
} as const satisfies Record<string, ErrorEntry>;
