/** Inboxes: the organization's own phone numbers, which contacts write to. */
import { z } from "zod";
import {
  all,
  country,
  type ErrorEntry,
  errorEntry,
  id,
  one,
  operation,
  phone,
  timestamp,
} from "./contract/index.ts";

/** The channels that an inbox can use. */
export const channels = ["simulator"] as const;

const keywords = z.array(z.string().trim().min(1).max(64)).max(100);
const reply = z.string().max(1024);

/** The settings of an inbox; the channel has the defaults. */
export const InboxSettings = z.object({
  service_window: z
    .enum(["strict", "advisory"])
    .optional()
    .describe("Free text after the 24-hour window: strict rejects it, advisory warns"),
  wallet: z
    .enum(["recorded", "enforced"])
    .optional()
    .describe(
      "Simulated channel: enforced rejects what the wallet can't pay, as a real channel always does; by default it is only recorded",
    ),
  messages_per_second: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe("Messages that may be sent in any second, replies before broadcasts; by default any number"),
  daily_limit: z
    .int()
    .min(1)
    .max(10_000_000)
    .optional()
    .describe(
      "Messages of broadcasts that may be sent in any 24 hours; the others wait. By default any number",
    ),
  chatbot: z.boolean().optional().describe("The chatbot answers"),
  default_country: country
    .optional()
    .describe("Country (ISO 3166) of numbers without a country code; by default the organization's"),
  stop_words: keywords
    .optional()
    .describe("A message of exactly one of these words opts the contact out of marketing"),
  start_words: keywords
    .optional()
    .describe("A message of exactly one of these words opts the contact in again"),
  stop_reply: reply.optional().describe("Reply to an opt-out; empty for none"),
  start_reply: reply.optional().describe("Reply to an opt-in; empty for none"),
});
export type InboxSettings = z.infer<typeof InboxSettings>;

const Inbox = z.object({
  id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  channel: z.string(),
  platform: z.string(),
  phone_number: z.string(),
  settings: InboxSettings,
  created_at: timestamp,
  updated_at: timestamp,
});

const name = z.string().trim().min(1).max(255).describe("Name");

export const inboxes = {
  list_inboxes: operation({
    method: "GET",
    path: "/v1/inboxes",
    scope: "inbox:read",
    title: "List inboxes",
    description:
      "List the organization's own phone numbers. The first one sends to contacts that have not written yet.",
    input: z.object({}),
    output: all(Inbox),
  }),

  create_inbox: operation({
    method: "POST",
    path: "/v1/inboxes",
    scope: "tokens:create",
    title: "Create inbox",
    description: "Add a phone number that contacts can write to.",
    input: z.object({
      name,
      phone_number: phone,
      channel: z.enum(channels).default("simulator").describe("Messaging channel"),
      settings: InboxSettings.default({}).describe("Window rule, opt-out words and replies"),
    }),
    output: one(Inbox),
    status: 201,
    tier: "extended",
  }),

  update_inbox: operation({
    method: "PUT",
    path: "/v1/inboxes/{id}",
    scope: "tokens:create",
    title: "Update inbox",
    description:
      "Change an inbox's name or settings. Only the fields sent change; settings replaces all settings.",
    input: z.object({
      id: id("Inbox", "list_inboxes"),
      name: name.optional(),
      settings: InboxSettings.optional().describe("Window rule, opt-out words and replies"),
    }),
    output: one(Inbox),
    tier: "extended",
  }),
};

export const inboxErrors = {
  inbox_exists: errorEntry(
    "conflict",
    409,
    "An inbox with this phone number already exists.",
    "Use the inbox in existing_id, or another number.",
  ),
  inbox_not_found: errorEntry(
    "not_found",
    404,
    "There is no inbox with this id.",
    "Find the id with list_inboxes (GET /v1/inboxes).",
  ),
  no_inbox: errorEntry(
    "business_rule",
    422,
    "The organization has no inbox to send from.",
    "Create an inbox first (POST /v1/inboxes).",
  ),
} as const satisfies Record<string, ErrorEntry>;
