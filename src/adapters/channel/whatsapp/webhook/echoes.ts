/** The field `smb_message_echoes`: what the owner of a number writes with the WhatsApp Business app. */
import type { ChannelUpdates } from "../../../../ports/channel/channel.ts";
import { readAll } from "../read-all.ts";
import { contentOf } from "./content.ts";
import { detailsOf } from "./details.ts";
import { Echo, Metadata } from "./envelope.ts";
import { toSender } from "./messages.ts";

/** Reactions, edits and deletions by the owner are left out. */
const changes = new Set(["reaction", "edit", "revoke", "system"]);

export function readEchoes(value: Readonly<Record<string, unknown>>): Pick<ChannelUpdates, "messages"> {
  const metadata = Metadata.safeParse(value.metadata);
  const account_id = metadata.data?.phone_number_id ?? "";
  const echoes = metadata.success ? readAll(Echo, value.message_echoes) : [];
  return {
    messages: echoes
      .filter(({ type, group_id }) => !changes.has(type) && !group_id)
      .flatMap(({ to, to_user_id: bsuid = null, ...message }) => {
        const read = contentOf(message);
        return to || bsuid
          ? [
              {
                account_id,
                is_echo: true as const,
                channel_message_id: message.id,
                ...toSender({ wa_id: to ?? null, bsuid }),
                name: null,
                occurred_at: message.timestamp,
                reply_to: message.context?.id ?? null,
                ...read,
                details: detailsOf(message, read.content),
              },
            ]
          : [];
      }),
  };
}
