/** A message in the form of the Cloud API. A member without a value is undefined, which JSON leaves out. */
import type { OutboundMessage } from "../../../../ports/channel/channel.ts";
import type {
  ChannelFile,
  MessageContent,
  TemplateMessage,
} from "../../../../ports/channel/message-content.ts";
import type * as contract from "../contract.ts";
import { toContact } from "./cards.ts";
import { toInteractive } from "./interactive.ts";

/** The media ids of files that were uploaded to WhatsApp, by the file's key. */
export type MediaIds = ReadonlyMap<string, string>;

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
    const interactive = toInteractive(content.interactive, (file) => sourceOf(file, ids));
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
  const source = sourceOf(media, ids);
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

/**
 * The compiler does not find unknown members beside the spread of a union: so they are a
 * parameter of their own.
 */
function toMedia<Media>(source: contract.MediaObject, members: Omit<Media, "id" | "link">) {
  return "id" in source ? { ...members, id: source.id } : { ...members, link: source.link };
}

/** Own files by their id at WhatsApp, others by their address. */
function sourceOf(
  { url, file }: { readonly url: string; readonly file?: ChannelFile | undefined },
  ids: MediaIds,
): contract.MediaObject {
  const id = file && ids.get(file.key);
  return id === undefined ? { link: url } : { id };
}

type Component = contract.HeaderComponent | contract.BodyComponent | contract.ButtonComponent;

function toTemplate(template: TemplateMessage, ids: MediaIds): contract.TemplateObject {
  const { name, language, values, buttons } = template;
  const components: readonly Component[] = [
    ...headerOf(template, ids),
    ...bodyOf(values),
    ...values.buttons.map(({ index, value }) =>
      buttons[index]?.type === "copy_code"
        ? buttonOf("copy_code", index, { type: "coupon_code", coupon_code: value })
        : buttonOf("url", index, textOf(value)),
    ),
    ...buttons.flatMap(({ type, payload }, index) =>
      type === "quick_reply" && payload !== undefined
        ? [buttonOf("quick_reply", index, { type: "payload", payload })]
        : [],
    ),
  ];
  return {
    // WhatsApp has names in lower case only.
    name: name.toLowerCase(),
    language: { code: language },
    components: components.length > 0 ? components : undefined,
  };
}

function headerOf({ header, values }: TemplateMessage, ids: MediaIds): readonly contract.HeaderComponent[] {
  if (header === null) {
    return [];
  }
  if (header.type === "text") {
    return values.header.length > 0
      ? [{ type: "header", parameters: namedTexts(values.header, values.names?.header) }]
      : [];
  }
  if (header.type === "location") {
    return [{ type: "header", parameters: [header] }];
  }
  const { type, media } = header;
  const source = sourceOf(media, ids);
  const filename = media.file_name ?? undefined;
  const parameters: Readonly<Record<typeof type, HeaderParameter>> = {
    image: { type: "image", image: source },
    video: { type: "video", video: source },
    document: { type: "document", document: toMedia<HeaderDocument>(source, { filename }) },
  };
  return [{ type: "header", parameters: [parameters[type]] }];
}

type HeaderDocument = contract.DocumentParameter["document"];
type HeaderParameter = NonNullable<contract.HeaderComponent["parameters"]>[number];

function bodyOf({ body, names }: TemplateMessage["values"]): readonly contract.BodyComponent[] {
  return body.length > 0 ? [{ type: "body", parameters: namedTexts(body, names?.body) }] : [];
}

/** WhatsApp takes the values of variables with names by their names. */
function namedTexts(values: readonly string[], names: readonly string[] = []): contract.TextParameter[] {
  return values.map((value, index) => ({ ...textOf(value), parameter_name: names[index] }));
}

const textOf = (text: string) => ({ type: "text", text }) as const;

function buttonOf(
  sub_type: contract.ButtonComponent["sub_type"],
  index: number,
  parameter: contract.ButtonComponent["parameters"][number],
): contract.ButtonComponent {
  return { type: "button", sub_type, index: String(index), parameters: [parameter] };
}
