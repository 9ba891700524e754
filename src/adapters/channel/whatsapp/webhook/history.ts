/**
 * The fields `history` and `smb_app_state_sync`: what the WhatsApp Business app had before the number was
 * connected.
 *
 * The history has each message in the thread of its person. One with a file is a placeholder there; if it is
 * at most two weeks old, a later report has it again, outside a thread, with the id of the file.
 */
import { z } from "zod";
import type { ChannelUpdates } from "../../../../ports/channel/channel.ts";
import type { PastMessage } from "../../../../ports/channel/received.ts";
import { cutText } from "../../../../texts/cut.ts";
import { readAll } from "../read-all.ts";
import { contentOf } from "./content.ts";
import { detailsOf } from "./details.ts";
import { digits, Echo, Metadata } from "./envelope.ts";
import { toSender } from "./messages.ts";

/** What is about an earlier message, and notices of the app. */
const leftOut = new Set(["reaction", "edit", "revoke", "system"]);

const statuses: Readonly<Record<string, PastMessage["status"]>> = {
  PENDING: "sent",
  SENT: "sent",
  DELIVERED: "delivered",
  READ: "read",
  PLAYED: "read",
  ERROR: "failed",
};

const Account = Metadata.extend({
  display_phone_number: z
    .string()
    .transform((number) => number.replace(/\D/g, ""))
    .catch(""),
});

const id = z.string().min(1).max(255);

const Message = Echo.extend({
  history_context: z.looseObject({ status: z.string().nullish() }).nullish().catch(null),
});
type Message = z.output<typeof Message>;

const Thread = z.object({
  id: digits.nullish().catch(null),
  context: z
    .looseObject({ wa_id: digits.nullish().catch(null), user_id: id.nullish().catch(null) })
    .nullish()
    .catch(null),
  messages: z.unknown(),
});

const Chunk = z.object({ threads: z.unknown() });

export function readPastMessages(value: Readonly<Record<string, unknown>>): Pick<ChannelUpdates, "history"> {
  const metadata = Account.safeParse(value.metadata);
  if (!metadata.success) {
    return { history: [] };
  }
  const { phone_number_id: account_id, display_phone_number: own } = metadata.data;
  const inThreads = readAll(Chunk, value.history)
    .flatMap(({ threads }) => readAll(Thread, threads))
    .flatMap(({ id: thread, context, messages }) => {
      const person = { wa_id: thread ?? context?.wa_id ?? null, bsuid: context?.user_id ?? null };
      const isKnown = person.wa_id !== null || person.bsuid !== null;
      return isKnown ? readAll(Message, messages).map((message) => ({ message, person })) : [];
    });
  const withFiles = readAll(Message, value.messages).map((message) => {
    const isEcho = message.from === own;
    const wa_id = (isEcho ? message.to : message.from) ?? null;
    return {
      message,
      person: { wa_id, bsuid: (isEcho ? message.to_user_id : message.from_user_id) ?? null },
    };
  });
  return {
    history: [...inThreads, ...withFiles]
      .filter(({ message: { type, group_id } }) => !leftOut.has(type) && !group_id)
      .map(({ message, person }) => ({ account_id, ...toPast(message, own), ...toSender(person) })),
  };
}

function toPast(
  { to: _, to_user_id: __, history_context, ...message }: Message,
  own: string,
): Omit<PastMessage, "account_id" | "from"> {
  const read = contentOf(message);
  const isEcho = message.from === own;
  const status = history_context?.status ?? "";
  const known = Object.hasOwn(statuses, status) ? statuses[status] : undefined;
  return {
    ...(isEcho && { is_echo: true as const }),
    channel_message_id: message.id,
    name: null,
    occurred_at: message.timestamp,
    reply_to: message.context?.id ?? null,
    ...read,
    details: detailsOf(message, read.content),
    status: isEcho ? (known ?? "sent") : "received",
  };
}

const Saved = z.object({
  type: z.literal("contact"),
  action: z.string(),
  contact: z.object({
    full_name: z.string().nullish().catch(null),
    first_name: z.string().nullish().catch(null),
    phone_number: z
      .string()
      .transform((number) => number.replace(/\D/g, ""))
      .pipe(digits)
      .nullish()
      .catch(null),
    user_id: id.nullish().catch(null),
    username: z.string().nullish().catch(null),
  }),
});

/** A person who is removed from the address book keeps the name. */
export function readSavedNames(value: Readonly<Record<string, unknown>>): Pick<ChannelUpdates, "names"> {
  const metadata = Metadata.safeParse(value.metadata);
  const saved = metadata.success ? readAll(Saved, value.state_sync) : [];
  return {
    names: saved.flatMap(({ action, contact }) => {
      const { full_name, first_name, phone_number: wa_id = null, user_id: bsuid = null } = contact;
      const name = cutText((full_name || first_name || "").trim(), 255);
      const isNamed = action !== "remove" && name !== "" && (wa_id !== null || bsuid !== null);
      const account_id = metadata.data?.phone_number_id ?? "";
      return isNamed ? [{ account_id, name, ...toSender({ wa_id, bsuid }) }] : [];
    }),
  };
}
