/** The settings that limit what each organization may have. */
import { z } from "zod";
import { wholeNumber } from "./fields.ts";

export const QuotaEnvironment = z.object({
  TIDINGS_QUOTA_STORED_MB: wholeNumber(1, 1_000_000_000)
    .default(10_240)
    .describe("Megabytes of files that an organization may store"),
  TIDINGS_QUOTA_API_KEYS: wholeNumber(1, 1_000_000)
    .default(100)
    .describe("API keys that an organization may have"),
  TIDINGS_QUOTA_WEBHOOKS: wholeNumber(1, 1_000)
    .default(100)
    .describe("Webhook subscriptions that an organization may have"),
  TIDINGS_QUOTA_IMPORTS: wholeNumber(1, 1_000_000)
    .default(20)
    .describe("Imports of an organization that may wait or run"),
  TIDINGS_QUOTA_INBOXES: wholeNumber(1, 10_000)
    .default(100)
    .describe("Inboxes that an organization may have"),
  TIDINGS_QUOTA_QUICK_REPLIES: wholeNumber(1, 10_000)
    .default(500)
    .describe("Quick replies that an organization may have"),
  TIDINGS_QUOTA_TEMPLATES: wholeNumber(1, 100_000)
    .default(6_000) // WhatsApp's limit for a verified business
    .describe("Templates that an organization may have"),
  TIDINGS_QUOTA_COHORTS: wholeNumber(1, 100_000)
    .default(1_000)
    .describe("Cohorts that an organization may have"),
  TIDINGS_QUOTA_FLOWS: wholeNumber(1, 10_000)
    // Each message is compared with the keywords of all flows.
    .default(200)
    .describe("Automation flows that an organization may have"),
  TIDINGS_QUOTA_KNOWLEDGE_DOCUMENTS: wholeNumber(1, 100_000)
    .default(1_000)
    .describe("Documents that an organization's knowledge base may have"),
  TIDINGS_QUOTA_KNOWLEDGE_CHUNKS: wholeNumber(1, 1_000_000)
    // About 18 MB of text. A search compares the query with the vectors of all passages.
    .default(20_000)
    .describe("Passages, of about 900 characters, that an organization's documents may have together"),
  TIDINGS_QUOTA_KNOWLEDGE_QA_PAIRS: wholeNumber(1, 100_000)
    .default(5_000)
    .describe("QA pairs that an organization's knowledge base may have"),
  TIDINGS_QUOTA_KNOWLEDGE_READING_SECONDS: wholeNumber(1, 3_600)
    .default(600)
    .describe("Seconds in an hour for which an organization's documents may be read"),
  TIDINGS_QUOTA_ROUTING_POLICIES: wholeNumber(1, 10_000)
    .default(100)
    .describe("Routing policies that an organization may have"),
  TIDINGS_QUOTA_TEAM_MEMBERS: wholeNumber(1, 100_000)
    .default(2_000)
    .describe("Members that an organization's teams may have together"),
  TIDINGS_QUOTA_WAITING_CALLS: wholeNumber(1, 1_000_000)
    .default(200)
    .describe(
      "Calls of an organization that may wait at once, in each process: those of `wait_for_message`, `wait_for_broadcast` and `wait_for_plan`, and sends with `wait_seconds`",
    ),
});
