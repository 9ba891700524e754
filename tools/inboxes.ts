/** Inboxes: the organization's own phone numbers, which contacts write to. */
import { z } from "zod";
import { all, country, id, one, operation, phone, timestamp, untrusted, yes } from "./contract/index.ts";

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

const InboxAlert = z.object({
  /** Meta's name, for example ACCOUNT_RESTRICTION. */
  type: z.string().nullable(),
  title: untrusted(z.string()),
  /** What to do. */
  advice: z.string(),
  reported_at: timestamp,
});

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
   * When the provider last reported something of the inbox's app, with a valid signature; up to a minute
   * early. Null before the first report, and on the simulated channel.
   */
  last_webhook_at: timestamp.nullable(),
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
  /** The latest problem that Meta has reported of the account; null: none. */
  alert: InboxAlert.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

const InboxCheck = z.object({
  inbox_id: z.string(),
  /** Whether the channel accepts the inbox's credentials, and they are of its number. */
  ok: z.boolean(),
  checked_at: timestamp,
  /** How long the channel took to answer. */
  latency_ms: z.int(),
  /** What the channel says of the number now; null if it does not, and on the simulated channel. */
  limits: Inbox.shape.limits,
  problem: z
    .object({
      /**
       * credentials_rejected: a credential is wrong. account_rejected: the account can't be used for
       * another reason. channel_unreachable: the channel did not answer or is busy, so nothing is known
       * of the account.
       */
      code: z.enum(["credentials_rejected", "account_rejected", "channel_unreachable"]),
      /** The wrong credential; null for another problem. */
      field: z.string().nullable(),
      message: untrusted(z.string()),
      fix: z.string(),
    })
    .nullable(),
});

const SetUpStep = z.object({
  /**
   * On WhatsApp: app (id and secret), token (validity and permissions), number, account, webhook (the app
   * reports to this service), subscription (of the app to the account), registration (of the number).
   */
  name: z.string(),
  /** changed: it was missing, and is there now. skipped: it needs a step that failed. */
  state: z.enum(["ok", "changed", "failed", "skipped"]),
  detail: untrusted(z.string()),
  /** What to do; null if there is nothing to do. */
  fix: z.string().nullable(),
});

const InboxConnection = z.object({
  inbox_id: z.string(),
  /** Whether no step failed. */
  ok: z.boolean(),
  checked_at: timestamp,
  steps: z.array(SetUpStep),
});

/** The events of inboxes. */
export const inboxEvents = {
  "inbox.health": {
    scope: "inbox:read",
    data: Inbox.shape.health.omit({ since: true }).extend({ inbox_id: z.string() }),
  },
  "inbox.alert": { scope: "inbox:read", data: InboxAlert.extend({ inbox_id: z.string() }) },
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
      "List the organization's own phone numbers. The first one sends to contacts without a conversation.",
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

  check_inbox: operation({
    method: "POST",
    path: "/v1/inboxes/{id}/check",
    scope: "inbox:read",
    // It waits for the channel without a transaction, and stores nothing.
    effect: "read",
    title: "Check inbox",
    description:
      "Ask the channel now whether it accepts an inbox's credentials and has its number. Changes nothing; problem says what is wrong and what to do. list_inboxes has the health as the last messages have shown it.",
    input: z.object({ id: id("Inbox", "list_inboxes") }),
    output: one(InboxCheck),
    tier: "extended",
    hints: { openWorld: yes("It asks the channel's provider.") },
  }),

  connect_inbox: operation({
    method: "POST",
    path: "/v1/inboxes/{id}/connect",
    scope: "tokens:create",
    effect: "outward",
    title: "Connect inbox",
    description:
      "Set up a WhatsApp inbox at Meta with its credentials: check the app, the token, the number and its account, subscribe the app to them with this service's address, and register the number. Each step says what was found or changed, and what to do if it failed. Safe to repeat.",
    input: z.object({
      id: id("Inbox", "list_inboxes"),
      pin: z
        .string()
        .max(6)
        .regex(/^\d{6}$/, "Send 6 digits.")
        .optional()
        .describe("Of the number's two-step verification; only for a number that is not registered yet"),
      replace_callback: z
        .boolean()
        .default(false)
        .describe("Take the app's reports away from another address"),
    }),
    output: one(InboxConnection),
    tier: "extended",
    waitSeconds: 60,
    hints: {
      destructive: yes("With replace_callback, the app no longer reports to another address."),
      idempotent: yes("What is there already is not changed."),
      openWorld: yes("It changes settings of the app and the number at Meta."),
    },
  }),
};
