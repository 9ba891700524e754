/**
 * The field `calls`: a call of a person that nobody answered is a message. Answered calls, and calls by the
 * business, are left out.
 */
import { z } from "zod";
import type { ChannelUpdates } from "../../../../ports/channel/channel.ts";
import { readAll } from "../read-all.ts";
import { digits, Metadata, seconds, WebhookContact } from "./envelope.ts";
import { contactOf, reporterOf } from "./messages.ts";

const id = z.string().min(1).max(255);
const payload = z.string().max(4_096).optional().catch(undefined);

/** Only a call that was answered has a start and a duration. */
const MissedCall = z.object({
  id,
  event: z.literal("terminate"),
  direction: z.literal("USER_INITIATED"),
  from: digits.nullish().catch(null),
  from_user_id: id.nullish().catch(null),
  timestamp: seconds,
  start_time: z.null().optional(),
  duration: z.union([z.null(), z.literal(0)]).optional(),
  deeplink_payload: payload,
  cta_payload: payload,
});

export function readCalls(value: Readonly<Record<string, unknown>>): Pick<ChannelUpdates, "messages"> {
  const metadata = Metadata.safeParse(value.metadata);
  const calls = metadata.success ? readAll(MissedCall, value.calls) : [];
  const account_id = metadata.data?.phone_number_id ?? "";
  const contacts = readAll(WebhookContact, value.contacts);
  return {
    messages: calls.flatMap((call) => {
      const { deeplink_payload, cta_payload } = call;
      const payloads = {
        ...(deeplink_payload !== undefined && { deeplink_payload }),
        ...(cta_payload !== undefined && { cta_payload }),
      };
      return reporterOf(call, contacts).map((sender) => ({
        account_id,
        channel_message_id: call.id,
        ...sender,
        name: contactOf(call, contacts)?.profile?.name || null,
        occurred_at: call.timestamp,
        content: { type: "call" as const, call: { status: "missed" as const } },
        file: null,
        details: Object.keys(payloads).length > 0 ? { channel_data: payloads } : undefined,
      }));
    }),
  };
}
