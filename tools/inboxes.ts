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
  untrusted,
  yes,
} from "./contract/index.ts";

/** The channels that an inbox can use. */
export const channels = ["simulator", "whatsapp"] as const;
export type ChannelName = (typeof channels)[number];

const keywords = z.array(z.string().trim().min(1).max(64)).max(100);
const reply = z.string().max(1024);

/** The settings of an inbox. The channel has the defaults. */
export const InboxSettings = z.object({
  service_window: z
    .enum(["strict", "advisory"])
    .optional()
    .describe(
      "Simulated channel: free text after the 24-hour window; strict rejects it, as a real channel always does, and advisory, the default, warns",
    ),
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
    .describe(
      "Messages that may be sent in any second, replies before broadcasts; by default 80 on WhatsApp, or 1000 for a number with a high throughput, any number on the simulated channel",
    ),
  daily_limit: z
    .int()
    .min(1)
    .max(10_000_000)
    .optional()
    .describe(
      "Messages of broadcasts that may be sent in any 24 hours; the others wait. By default any number; WhatsApp's messaging limit counts too",
    ),
  read_marks: z
    .enum(["off", "read", "typing"])
    .optional()
    .describe(
      "WhatsApp: what the contact sees when a conversation is marked as read or answered; read, or also typing until the answer comes. By default off",
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

export const Inbox = z.object({
  id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  channel: z.string(),
  /** Whether its messages reach no real phone. */
  simulated: z.boolean(),
  platform: z.string(),
  phone_number: z.string(),
  settings: InboxSettings,
  /**
   * The address to enter in the app's dashboard at Meta; null on the simulated channel, and without a public
   * address.
   */
  callback_url: z.string().nullable(),
  /**
   * stopped: the account can't send, and messages wait. unreachable: the channel does not answer, and each
   * message is tried again after a few seconds.
   */
  health: z.object({
    status: z.enum(["ok", "stopped", "unreachable"]),
    /** The channel's error code. */
    code: z.int().nullable(),
    reason: untrusted(z.string()).nullable(),
    since: timestamp.nullable(),
  }),
  /**
   * Meta's limits for the number, read every day; null on the simulated channel, and before the first read.
   */
  limits: z
    .object({
      /** How many people the business may send to outside their windows in 24 hours; null: any number. */
      messaging_limit: z.int().nullable(),
      quality: z.enum(["green", "yellow", "red"]).nullable(),
      messages_per_second: z.int().nullable(),
    })
    .nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

/** The events of inboxes. */
export const inboxEvents = {
  "inbox.health": {
    scope: "inbox:read",
    data: Inbox.shape.health.omit({ since: true }).extend({ inbox_id: z.string() }),
  },
} as const;

/** Meta's ids are numbers, sent as text. */
const metaId = z.string().max(32).regex(/^\d+$/, "Send the number from Meta's dashboard.");
const secret = (minLength: number) =>
  z
    .string()
    .min(minLength)
    .max(2048)
    .regex(/^[!-~]+$/, "Send it without spaces.");

/** The account of a WhatsApp number. Never shown again. */
export const WhatsAppCredentials = z.object({
  phone_number_id: metaId.describe("Id of the phone number"),
  waba_id: metaId.describe("Id of its WhatsApp Business Account"),
  app_id: metaId.describe("Id of the Meta app"),
  access_token: secret(8).describe("Permanent token of a system user"),
  app_secret: secret(8).describe("The app's secret, which signs webhooks"),
  verify_token: secret(8).describe("A text of your choice, entered in the app's dashboard too"),
});
export type WhatsAppCredentials = z.infer<typeof WhatsAppCredentials>;

const name = z.string().trim().min(1).max(255).describe("Name");

export const inboxes = {
  list_inboxes: operation({
    method: "GET",
    path: "/v1/inboxes",
    scope: "inbox:read",
    tier: "extended",
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
    effect: "outward",
    description:
      "Add a phone number that contacts can write to. A WhatsApp number needs the credentials of its account, which are checked at Meta. Enter callback_url and the verify token in the app's dashboard there.",
    input: z
      .object({
        name,
        phone_number: phone,
        channel: z.enum(channels).default("simulator").describe("Messaging channel"),
        credentials: WhatsAppCredentials.optional().describe("For channel whatsapp"),
        settings: InboxSettings.default({}).describe("Window rule, opt-out words and replies"),
      })
      .superRefine(({ channel, credentials }, context) => {
        if ((channel === "whatsapp") !== (credentials !== undefined)) {
          const message =
            channel === "whatsapp"
              ? "A WhatsApp inbox needs credentials."
              : "Credentials are for the channel whatsapp.";
          context.addIssue({ code: "custom", path: ["credentials"], message });
        }
      }),
    output: one(Inbox),
    status: 201,
    tier: "extended",
    hints: { openWorld: yes("It checks the credentials at Meta.") },
  }),

  update_inbox: operation({
    method: "PUT",
    path: "/v1/inboxes/{id}",
    scope: "tokens:create",
    title: "Update inbox",
    effect: "outward",
    description:
      "Change an inbox's name, settings or credentials. Only the fields sent change; settings and credentials replace all of theirs.",
    input: z.object({
      id: id("Inbox", "list_inboxes"),
      name: name.optional(),
      settings: InboxSettings.optional().describe("Window rule, opt-out words and replies"),
      credentials: WhatsAppCredentials.optional().describe("Of a WhatsApp inbox; checked at Meta"),
    }),
    output: one(Inbox),
    tier: "extended",
    hints: {
      destructive: yes("Replaced credentials are never shown, so they can't be set again."),
      openWorld: yes("It checks the credentials at Meta."),
    },
  }),
};

export const inboxErrors = {
  webhook_not_signed: errorEntry(
    "invalid_request",
    400,
    "The request is not signed with the app secret of an inbox with this address.",
    "Check the app secret of the inbox's credentials, and the address in the app's dashboard.",
  ),
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
  credentials_rejected: errorEntry(
    "business_rule",
    422,
    "The channel does not accept these credentials: {reason}",
    "Compare them with the dashboard of the channel's provider, correct the field in param, and send them again.",
  ),
  credentials_not_used: errorEntry(
    "business_rule",
    422,
    "An inbox of this channel has no credentials.",
    "Create an inbox with the channel whatsapp (POST /v1/inboxes).",
  ),
  channel_in_sandbox: errorEntry(
    "conflict",
    409,
    "The clock of this service can be moved, so it has simulated channels alone.",
    "Leave out channel, or use a service without TIDINGS_SANDBOX_CLOCK.",
  ),
  read_marks_not_supported: errorEntry(
    "invalid_request",
    400,
    "The channel of this inbox has no read marks of the kind {value}.",
    "Leave out settings.read_marks, or set it to off.",
  ),
  channel_unreachable: errorEntry(
    "channel",
    503,
    "The channel's provider does not respond or is busy.",
    "Try again in a minute.",
  ),
  address_not_supported: errorEntry(
    "business_rule",
    422,
    "The inbox's channel has no addresses like {value}.",
    "Send an address of the kind that the channel has, or name another inbox in inbox_id.",
  ),
  no_inbox: errorEntry(
    "business_rule",
    422,
    "The organization has no inbox to send from.",
    "Create an inbox first (POST /v1/inboxes).",
  ),
} as const satisfies Record<string, ErrorEntry>;
