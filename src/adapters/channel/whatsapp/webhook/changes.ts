/**
 * What a person does with an earlier message (reacts, edits, deletes it), by the type of
 * the report at WhatsApp.
 */
import { z } from "zod";
import type { MessageChange } from "../../../../ports/channel/channel.ts";
import type { WebhookMessage } from "./envelope.ts";

type Change = Pick<MessageChange, "channel_message_id" | "change">;

const id = z.string().min(1).max(255);

/** Without an emoji the reaction is removed. */
const Reaction = z
  .object({ reaction: z.object({ message_id: id, emoji: z.string().max(64).nullish() }) })
  .transform(({ reaction: { message_id, emoji } }): Change => {
    return { channel_message_id: message_id, change: { type: "reaction", emoji: emoji || null } };
  });

const Text = z
  .object({ type: z.literal("text"), text: z.object({ body: z.string().min(1) }) })
  .transform(({ text }): Change["change"] => ({ type: "edit", text: text.body }));

const File = z.object({ caption: z.string().nullish() });
const Caption = z
  .union([
    z.object({ type: z.literal("image"), image: File }).transform(({ image }) => image),
    z.object({ type: z.literal("video"), video: File }).transform(({ video }) => video),
    z.object({ type: z.literal("document"), document: File }).transform(({ document }) => document),
  ])
  .transform(({ caption }): Change["change"] => ({ type: "edit_caption", caption: caption || null }));

const Edit = z
  .object({ edit: z.object({ original_message_id: id, message: z.union([Text, Caption]) }) })
  .transform(({ edit }): Change => ({ channel_message_id: edit.original_message_id, change: edit.message }));

const Revocation = z
  .object({ revoke: z.object({ original_message_id: id }) })
  .transform(({ revoke }): Change => {
    return { channel_message_id: revoke.original_message_id, change: { type: "delete" } };
  });

const readers: Readonly<Record<string, z.ZodType<Change>>> = {
  reaction: Reaction,
  edit: Edit,
  revoke: Revocation,
};

/** Undefined for a message, and for a change of another form than expected. */
export function changeOf(message: WebhookMessage): Change | undefined {
  return Object.hasOwn(readers, message.type) ? readers[message.type]?.safeParse(message).data : undefined;
}
