/** A message in the form of the Cloud API. */
import type { OutboundMessage } from "../../../../ports/channel.ts";
import type { ChannelFile, MessageContent, TemplateMessage } from "../../../../ports/message-content.ts";

/** The media ids of files that were uploaded to WhatsApp, by the file's key. */
export type MediaIds = ReadonlyMap<string, string>;

type Part = Readonly<Record<string, unknown>>;

export function toBody({ to, to_kind, token, content }: OutboundMessage, ids: MediaIds): Part {
  return {
    messaging_product: "whatsapp",
    recipient_type: "individual",
    // A business-scoped id in `to` is accepted and silently lost.
    ...(to_kind === "bsuid" ? { recipient: to } : { to }),
    type: content.type,
    ...toContent(content, ids),
    biz_opaque_callback_data: token,
  };
}

function toContent(content: MessageContent, ids: MediaIds): Part {
  if (content.type === "text") {
    return { text: { body: content.text.body } };
  }
  if (content.type === "template") {
    return { template: toTemplate(content.template, ids) };
  }
  if (content.type === "interactive") {
    return { interactive: toInteractive(content.interactive) };
  }
  const { media, type } = content;
  const { caption, file_name } = media;
  return {
    [type]: {
      ...toMedia(media, ids),
      ...(caption === null || type === "audio" ? {} : { caption }),
      ...(file_name === null || type !== "document" ? {} : { filename: file_name }),
    },
  };
}

/** Own files by their id at WhatsApp, others by their address. */
function toMedia(
  { url, file }: { readonly url: string; readonly file?: ChannelFile | undefined },
  ids: MediaIds,
): Part {
  const id = file && ids.get(file.key);
  return id === undefined ? { link: url } : { id };
}

function toTemplate(template: TemplateMessage, ids: MediaIds): Part {
  const components = [
    ...headerOf(template, ids),
    ...(template.values.body.length > 0
      ? [{ type: "body", parameters: template.values.body.map(textOf) }]
      : []),
    ...template.values.buttons.map(({ index, value }) => buttonOf("url", index, textOf(value))),
    ...template.buttons.flatMap(({ type, payload }, index) =>
      type === "quick_reply" && payload !== undefined
        ? [buttonOf("quick_reply", index, { type: "payload", payload })]
        : [],
    ),
  ];
  return {
    // WhatsApp has names in lower case only.
    name: template.name.toLowerCase(),
    language: { code: template.language },
    ...(components.length > 0 ? { components } : {}),
  };
}

function headerOf({ header, values }: TemplateMessage, ids: MediaIds): readonly Part[] {
  if (header === null) {
    return [];
  }
  if (header.type === "text") {
    return values.header.length > 0 ? [{ type: "header", parameters: values.header.map(textOf) }] : [];
  }
  const { type, media } = header;
  const filename = type === "document" && media.file_name !== null ? { filename: media.file_name } : {};
  return [{ type: "header", parameters: [{ type, [type]: { ...toMedia(media, ids), ...filename } }] }];
}

const textOf = (text: string): Part => ({ type: "text", text });

const buttonOf = (sub_type: string, index: number, parameter: Part): Part => ({
  ...{ type: "button", sub_type, index: String(index), parameters: [parameter] },
});

interface Interactive {
  readonly body: string;
  readonly header?: string;
  readonly footer?: string;
  readonly buttons?: readonly { readonly id: string; readonly title: string }[];
  readonly list?: { readonly button: string; readonly sections: readonly Part[] };
}

function toInteractive(content: Part): Part {
  // The platform checked it by the contract of interactive messages.
  const { body, header, footer, buttons, list } = content as unknown as Interactive;
  return {
    type: list ? "list" : "button",
    ...(header === undefined ? {} : { header: { type: "text", text: header } }),
    body: { text: body },
    ...(footer === undefined ? {} : { footer: { text: footer } }),
    action: list ?? { buttons: buttons?.map((reply) => ({ type: "reply", reply })) },
  };
}
