/** The record of acts: who called what, with which outcome. */
import { z } from "zod";
import { id, inputTimestamp, one, operation, paged, pageSize, paging, timestamp } from "./contract/index.ts";

export const agentTypes = ["api_key", "user", "operator", "system"] as const;

export const actOutcomes = ["done", "refused"] as const;

export const Act = z.object({
  id: z.string(),
  /** When the call began. */
  created_at: timestamp,
  /** `system` is a call that another process of the service has ended. */
  by: z.object({ type: z.enum(agentTypes), id: z.string(), name: z.string() }),
  /** The sign-in of a user; null for a key. */
  session_id: z.string().nullable(),
  operation: z.string(),
  /** The MCP tool that made the call; null for a REST request. */
  tool: z.string().nullable(),
  /**
   * The input. "…" stands for a text, an address, or anything else that is not recorded. Null once a contact
   * that it named was erased.
   */
  arguments: z.record(z.string(), z.unknown()).nullable(),
  outcome: z.enum(actOutcomes),
  status: z.int(),
  error_code: z.string().nullable(),
  duration_ms: z.int(),
  /** The ids in the input and, of a call that changed something, in its answer. */
  ids: z.array(z.string()),
});

export const ReadCount = z.object({
  minute: timestamp,
  by: z.object({ type: z.enum(agentTypes), id: z.string(), name: z.string() }),
  operation: z.string(),
  count: z.int(),
});

const operationName = z.string().min(1).max(128).describe("Like send_message");
const agentId = z.string().min(1).max(64).describe("Id of an API key or a user");

export const timeFilters = {
  since: inputTimestamp.optional().describe("From this time on"),
  until: inputTimestamp.optional().describe("Before this time"),
};

/** The filters of the list, also for its CSV file. */
export const actFilters = z.object({
  by: agentId.optional(),
  session_id: z.string().min(1).max(64).optional().describe("Of a sign-in"),
  operation: operationName.optional(),
  contact_id: id("Contact", "list_contacts").optional(),
  outcome: z.enum(actOutcomes).optional(),
  ...timeFilters,
});

export const actPage = {
  after: z.string().min(1).max(64).optional().describe("cursor of the previous page"),
  per_page: pageSize(25),
};

export const ActList = one(
  z.object({
    acts: z.array(Act),
    /** For the next page; null if there is none. */
    cursor: z.string().nullable(),
  }),
);

export const activity = {
  list_activity: operation({
    method: "GET",
    path: "/v1/activity",
    scope: "tokens:read",
    tier: "extended",
    title: "List activity",
    description:
      "List what people, API keys and assistants did, the newest first: writes, refused calls, sign-ins and calls of tools. Secrets and texts are not recorded. list_read_counts has the reads over REST.",
    input: z.object({ ...actFilters.shape, ...actPage }),
    output: ActList,
  }),

  list_read_counts: operation({
    method: "GET",
    path: "/v1/activity/reads",
    scope: "tokens:read",
    tier: "extended",
    title: "List read counts",
    description: "List how often each API key and user read what over REST, by minute, the newest first.",
    input: z.object({
      by: agentId.optional(),
      operation: operationName.optional(),
      ...timeFilters,
      ...paging(25),
    }),
    output: paged(ReadCount),
  }),
};
