/** Texts of the playground. */
import { isolate } from "./isolate.ts";

const number = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: "percent" });

/** Codes of the WhatsApp Cloud API, as docs/simulated-channel.md uses them. */
const codes: Readonly<Record<number, string>> = {
  131026: "The number does not have WhatsApp, or can't be reached",
  131047: "More than 24 hours since the customer's last message",
  131049: "Not delivered, to keep the ecosystem healthy",
  131050: "The customer has stopped marketing messages",
  131042: "Payment problem on the business account",
  131053: "The media could not be fetched",
  130472: "The customer is in an experiment",
  131048: "Spam limit reached",
  131031: "The account is locked",
  368: "Blocked for violations of policy",
  190: "The access token has expired",
  131000: "Something went wrong",
  131051: "The type of the message is not supported",
  130429: "Throughput reached; tried again",
  131056: "Too many messages to this customer; tried again",
};

export const playground = {
  title: "Playground",
  invitation: "Write to your inbox as a customer, on a simulated phone. No account is needed.",
  openIt: "Open the playground",
  views: { phone: "Phone", conversation: "Conversation", trace: "Trace", controls: "Controls" },
  viewsLabel: "Show",
  notPermitted: "Your role can't write messages, so it can't use the playground.",
  off: "The simulator is off: this service was started with TIDINGS_SIMULATOR=off. Start it without this setting to use the playground.",
  noSuchInbox: "There is no such simulated inbox.",
  back: "Open the first simulated inbox",
  noConversation: "This customer has not written to the inbox yet.",
  begin: "Write a message on the phone. It arrives here as from a real phone, and you can reply.",

  customer: {
    label: "Customer",
    inbox: "Writes to",
    option: (name: string | null, phone: string) => (name === null ? phone : `${isolate(name)} ${phone}`),
    make: "New customer …",
    number: "Phone number",
    numberHint: "With the country code, for example +14155550123",
    name: "Name (optional)",
    open: "Open the phone",
    /** Of the phone that is shown where no customer has written yet. */
    firstName: "Ada Lovelace",
  },

  phone: {
    title: (name: string) => `Phone of ${name}`,
    of: (name: string | null, phone: string) =>
      `On the phone of ${name === null ? phone : `${isolate(name)}, ${phone}`}`,
    log: "Messages on the phone",
    empty: "The phone shows no messages yet. Write one below, as the customer.",
    write: "Write as the customer",
    send: "Send as the customer",
    read: "Read all",
    statuses: {
      accepted: "On the way",
      sent: "Sent",
      delivered: "Delivered",
      read: "Read",
      failed: "Failed: a real phone does not show it",
      received: "Written by the customer",
    },
  },

  trace: {
    title: "Trace",
    empty: "What happens to each message is listed here as it happens.",
    partial: "Your role sees no calls and no webhooks: they need the scope tokens:read.",
    runs: "Runs of flows",
    run: (status: string, node: string | null, due: string | null) =>
      [
        status,
        ...(node === null ? [] : [`at the node ${node}`]),
        ...(due === null ? [] : [`until ${due}`]),
      ].join(", "),
    directions: { inbound: "The customer wrote", outbound: "Sent to the customer" },
    openMessage: "Open in the inbox",
    call: (how: string, by: string, outcome: string) => `by ${how}, ${by}: ${outcome}`,
    events: "Events since the page was opened",
    showIds: "Show ids",
  },

  faults: {
    title: "Failures",
    active: "Failures are injected:",
    open: "Change them",
    line: (what: string, share: string, detail: string) =>
      `${what}: ${share}${detail === "" ? "" : ` (${detail})`}`,
    hint: "For all simulated inboxes of the organization. A message always meets the same failure.",
    code: "Messages fail with",
    codes,
    codeName: (code: number) =>
      [String(code), ...(codes[code] === undefined ? [] : [codes[code]])].join(" · "),
    onlyThis: (phone: string) => `Only messages to ${phone}`,
    failing: "Messages that fail",
    others: (count: number) => `More failures that were set over the API stay: ${number.format(count)}.`,
    share: (value: number) => percent.format(value),
    shares: {
      lost_receipts: "Receipts that are lost",
      doubled_receipts: "Receipts that arrive twice",
      swapped_receipts: "Messages whose receipts arrive in reverse",
      lost_answers: "Messages that are accepted although the call fails",
    },
    delays: {
      accept_delay_ms: "Until the channel accepts a message",
      receipt_delay_ms: "From sent to delivered",
    },
    free: "Receipts say that messages are free",
    fetchMedia: "Fetch the media of messages",
    reset: "Remove all failures",
  },

  reviews: {
    title: "Review of templates",
    notPermitted: "Your role can't decide about templates: it needs the scope templates:manage.",
    empty: "No template was submitted. The sample has one; the API and tools submit others.",
    outcome: "New templates are",
    outcomes: {
      approve: "approved after a second",
      reject: "rejected after a second",
      hold: "pending until you decide",
    },
    reason: "Reason of rejections",
    statuses: {
      PENDING: "Pending",
      APPROVED: "Approved",
      REJECTED: "Rejected",
      PAUSED: "Paused",
      DISABLED: "Disabled",
    } as Readonly<Record<string, string>>,
    verdicts: { approve: "Approve", reject: "Reject", pause: "Pause", disable: "Disable" },
    decide: (verdict: string, name: string, language: string) => `${verdict} ${name} (${language})`,
  },

  clock: {
    title: "Clock of the sandbox",
    off: "The clock of this service can't be moved. To move it, start a service with a data folder of its own, TIDINGS_SANDBOX_CLOCK=on, and a key of at least 32 characters in TIDINGS_OPERATOR_KEY.",
    keyHint:
      "The clock moves for all organizations of the service, so it takes the operator's key, the value of TIDINGS_OPERATOR_KEY. This page does not store it.",
    key: "Operator's key",
    open: "Show the clock",
    now: (time: string, ahead: number) =>
      ahead === 0
        ? `${time}, the real time`
        : `${time}, about ${number.format(ahead)} hours ahead of the real time`,
    moving: "moving on …",
    hint: "The clock moves forward only. What is due on the way runs at its time: waits of flows, schedules, retries. Your session ends 7 days after you signed in, by this clock.",
    moves: { tenMinutes: "10 minutes", hour: "1 hour", day: "1 day", threeDays: "3 days" },
  },

  sample: {
    title: "Sample",
    hint: "Makes three contacts, a flow that answers the word menu, and a template, on this simulated inbox.",
    make: "Make the sample",
    made: "The sample was made.",
    nothingNew: "The sample was there already. Nothing was made.",
    part: (kind: string, name: string, isNew: boolean) =>
      `${kind} ${name}: ${isNew ? "made" : "there already"}`,
    kinds: { contact: "Contact", flow: "Flow", template: "Template" },
    next: "Write menu on the phone, and tap a button of the answer.",
  },
} as const;
