/** The body of an inbound message, as the simulator's route takes it. */
import { z } from "zod";
import type { MessageChange } from "../../../ports/channel/channel.ts";
import type { ReceivedContent } from "../../../ports/channel/message-content.ts";
import type { SimulatorControls } from "./controls.ts";
import { channelUserId, phoneNumber } from "./phone-number.ts";
import { textField } from "./text-field.ts";

/** The channel's id of a message, as the phone lists it. */
const message_id = textField(128);

/** The kinds of content; a message has exactly one. */
const contentFields = {
  text: textField(4096).describe("A text"),
  // A template's button may have 25 characters, a row of a list 24, any other button 20.
  reply: z.object({ id: textField(256), title: textField(25) }).describe("The chosen button or row"),
  button: textField(256).describe("The id or title of a button or row that was sent to this phone"),
  media: z
    .object({
      type: z.enum(["image", "video", "document", "audio"]),
      url: z.url({ protocol: /^https?$/ }).max(2048),
      caption: textField(1024).nullable().default(null),
      file_name: textField(240).nullable().default(null),
    })
    .describe("A file"),
  reaction: z
    .object({ message_id, emoji: textField(64).optional() })
    .describe("A reaction; without an emoji it is removed"),
  edit: z
    .object({ message_id, text: textField(4096).optional(), caption: textField(1024).optional() })
    .refine(({ text, caption }) => (text === undefined) !== (caption === undefined), "Send text or caption.")
    .describe("Another text or caption of a message from this phone"),
  revoke: z.object({ message_id }).describe("The deletion of a message from this phone"),
};
const contentNames = ["text", "reply", "button", "media", "reaction", "edit", "revoke"] as const;

export const InboundBody = z
  .object({
    from: phoneNumber.optional().describe("Omit it for a contact who hides the number and has a user_id"),
    user_id: channelUserId
      .optional()
      .describe("The contact's id for this business; also works without a number"),
    username: textField(64).optional(),
    wa_id: textField(32).optional().describe("The number in the channel's own spelling"),
    to: phoneNumber.optional().describe("The inbox's number. Default: the first inbox"),
    name: textField(256).nullish(),
    channel_message_id: textField(128).optional().describe("A repeat with the same id is the same message"),
    reply_to: message_id.optional().describe("The message that is quoted"),
    ...z.object(contentFields).partial().shape,
  })
  .refine(({ from, user_id }) => from !== undefined || user_id !== undefined, {
    path: ["from"],
    message: "Send from, user_id or both.",
  })
  .refine((body) => contentNames.filter((name) => body[name] !== undefined).length === 1, {
    path: ["text"],
    message: "Send exactly one of text, reply, button, media, reaction, edit and revoke.",
  });
export type InboundBody = z.output<typeof InboundBody>;

type Change = Pick<MessageChange, "channel_message_id" | "change">;

/** What the person does with an earlier message; undefined for a message. */
export function toChange({ reaction, edit, revoke }: InboundBody): Change | undefined {
  if (reaction) {
    const { message_id: channel_message_id, emoji = null } = reaction;
    return { channel_message_id, change: { type: "reaction", emoji } };
  }
  if (edit) {
    const { message_id: channel_message_id, text, caption = null } = edit;
    const change =
      text === undefined ? ({ type: "edit_caption", caption } as const) : ({ type: "edit", text } as const);
    return { channel_message_id, change };
  }
  return revoke && { channel_message_id: revoke.message_id, change: { type: "delete" } };
}

/** The content in the form of the channel port. */
export async function toInboundContent(
  { from, user_id, text, reply, button, media }: InboundBody,
  organization_id: string,
  controls: SimulatorControls,
): Promise<ReceivedContent> {
  if (media) {
    const { type, ...file } = media;
    return { type, media: file };
  }
  if (text !== undefined) {
    return { type: "text", text: { body: text } };
  }
  return {
    type: "interactive",
    reply: reply ?? (await controls.findChoice(organization_id, from ?? user_id ?? "", button ?? "")),
  };
}
