/**
 * Checks whether the reports of a channel's provider arrive. Without them no message of a customer comes in,
 * and a sent message stays sent.
 */
import type { OutputOf } from "../../../tools/contract/index.ts";
import { conversations } from "../../../tools/conversations.ts";
import type { inboxes } from "../../../tools/inboxes.ts";
import { messages } from "../../../tools/messages/index.ts";
import type { Client } from "../../client/index.ts";
import { isLoopback } from "../../config/index.ts";
import { about, type Finding } from "./finding.ts";

type Inbox = Pick<
  OutputOf<typeof inboxes.list_inboxes>["data"][number],
  "id" | "phone_number" | "channel" | "callback_url" | "last_webhook_at" | "created_at"
>;

/** What the latest conversations of an inbox show of the reports. */
interface Traffic {
  /** A message was accepted after the last webhook, and its receipt is missing. */
  readonly isReceiptMissing: boolean;
  /** A message of a customer has come in, also before the time of the last webhook was recorded. */
  readonly hasReceived: boolean;
}

/** Meta reports each message within seconds, and the time of the last webhook is up to a minute early. */
const slackMs = 120_000;

export async function checkCallback(client: Client, inbox: Inbox): Promise<readonly Finding[]> {
  return inbox.channel === "whatsapp"
    ? [describeCallback(inbox, await readTraffic(client, inbox, Date.now()))]
    : [];
}

async function readTraffic(client: Client, inbox: Inbox, now: number): Promise<Traffic> {
  const { data } = await client.call(conversations.list_conversations, { inbox_id: inbox.id });
  const from = Date.parse(inbox.last_webhook_at ?? inbox.created_at);
  const isUnreported = (time: string | null) =>
    time !== null && Date.parse(time) > from + slackMs && Date.parse(time) < now - slackMs;
  const answered = data.find(
    ({ last_message, last_message_at }) =>
      last_message?.direction === "outbound" && isUnreported(last_message_at),
  );
  const sent = answered
    ? (await client.call(messages.list_messages, { conversation_id: answered.id })).data
    : [];
  return {
    isReceiptMissing: sent.some(({ status, created_at }) => status === "sent" && isUnreported(created_at)),
    hasReceived: data.some(({ last_message }) => last_message?.direction === "inbound"),
  };
}

export function describeCallback(
  { phone_number, callback_url, last_webhook_at, created_at }: Omit<Inbox, "id" | "channel">,
  { isReceiptMissing, hasReceived }: Traffic,
): Finding {
  const { ok, warning } = about("callback");
  const inbox = `Inbox ${phone_number}`;
  const isUnproven = last_webhook_at === null && !hasReceived;
  if (isUnproven && (callback_url === null || !isCallable(callback_url))) {
    return warning(
      `Meta can't report to ${inbox}: ${callback_url === null ? "TIDINGS_PUBLIC_URL is not set" : `it can't call ${callback_url}`}. No message of a customer arrives.`,
      "Set TIDINGS_PUBLIC_URL to an https address of the service that the internet reaches.",
    );
  }
  if (isUnproven || isReceiptMissing) {
    const since = last_webhook_at === null ? `the inbox was made at ${created_at}` : last_webhook_at;
    const sent = isReceiptMissing ? ", although messages were sent since" : "";
    return warning(
      `${inbox} has had no webhook since ${since}${sent}.`,
      `Enter ${callback_url ?? "its callback_url"} and the verify token in the dashboard of the app at Meta, under WhatsApp → Configuration → Webhook, and subscribe to messages there.`,
    );
  }
  return ok(`${inbox} gets webhooks${last_webhook_at === null ? "" : `, the last at ${last_webhook_at}`}.`);
}

/** Whether Meta can call the address: over TLS, and not on the machine of the service. */
function isCallable(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  // An IPv6 address stands in brackets.
  return protocol === "https:" && !isLoopback(hostname.replaceAll(/[[\]]/g, ""));
}
