/** A message in the form of the Cloud API. A member without a value is undefined, which JSON leaves out. */
import type { OutboundMessage } from "../../../../ports/channel/channel.ts";
import type { MessageContent } from "../../../../ports/channel/message-content.ts";
import type * as contract from "../contract.ts";
import { toContact } from "./cards.ts";
import { toInteractive } from "./interactive.ts";
import { type MediaIds, mediaSourceOf, toMedia } from "./media.ts";
import { toTemplate } from "./template.ts";

type Body =
  | contract.TextMessage
  | contract.ImageMessage
  | contract.VideoMessage
  | contract.DocumentMessage
  | contract.AudioMessage
  | contract.StickerMessage
  | contract.LocationMessage
  | contract.ContactsMessage
  | contract.InteractiveMessage
  | contract.TemplateMessage;

export function toBody(
  { to: { kind, value: to }, token, reply_to, content }: OutboundMessage,
  ids: MediaIds,
): Body {
  const base: contract.BaseMessageProperties = {
    messaging_product: "whatsapp",
    recipient_type: "individual",
    // A business-scoped id in `to` is accepted and silently lost.
    ...(kind === "bsuid" ? { recipient: to } : { to }),
    ...(reply_to === undefined ? {} : { context: { message_id: reply_to } }),
    type: content.type,
    biz_opaque_callback_data: token,
  };
  if (content.type === "text") {
    return { ...base, type: "text", text: content.text };
  }
  if (content.type === "template") {
    return { ...base, type: "template", template: toTemplate(content.template, ids) };
  }
  if (content.type === "interactive") {
    const interactive = toInteractive(content.interactive, (file) => mediaSourceOf(file, ids));
    return { ...base, type: "interactive", interactive };
  }
  if (content.type === "location") {
    return { ...base, type: "location", location: content.location };
  }
  if ("cards" in content) {
    return { ...base, type: "contacts", contacts: content.cards.map(toContact) };
  }
  return toMediaMessage(base, content, ids);
}

type MediaContent = Extract<MessageContent, { readonly media: unknown }>;

function toMediaMessage(
  base: contract.BaseMessageProperties,
  { type, media }: MediaContent,
  ids: MediaIds,
): Body {
  const source = mediaSourceOf(media, ids);
  const caption = media.caption ?? undefined;
  const filename = media.file_name ?? undefined;
  const messages: Readonly<Record<typeof type, () => Body>> = {
    image: () => ({ ...base, type: "image", image: toMedia<Image>(source, { caption }) }),
    video: () => ({ ...base, type: "video", video: toMedia<Video>(source, { caption }) }),
    document: () => ({
      ...base,
      type: "document",
      document: toMedia<Document>(source, { caption, filename }),
    }),
    audio: () => ({ ...base, type: "audio", audio: toMedia<Audio>(source, { voice: media.voice }) }),
    sticker: () => ({ ...base, type: "sticker", sticker: source }),
  };
  return messages[type]();
}

type Image = contract.ImageMessage["image"];
type Video = contract.VideoMessage["video"];
type Document = contract.DocumentMessage["document"];
type Audio = contract.AudioMessage["audio"];
