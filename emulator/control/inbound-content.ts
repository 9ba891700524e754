/** The contents of a customer's message, in the form of webhooks. */
import { z } from "zod";
import { mediaUrl } from "../graph/describe.ts";
import { storeMedia } from "../graph/media.ts";
import type { Phone } from "../state/store.ts";
import type { World } from "../world.ts";
import { findChoice } from "./choices.ts";
import { type Content, type Conversation, interactive, message } from "./content.ts";
import { applyChange, changeFields } from "./inbound-changes.ts";
import { sampleFiles } from "./sample-files.ts";

const object = z.record(z.string(), z.unknown());
const label = z.string().min(1).max(256);

/** A message has exactly one of them. */
export const contentFields = {
  text: z.string().min(1).max(65_536).optional(),
  media: z
    .strictObject({
      type: z.enum(["image", "video", "audio", "document", "sticker"]),
      /** The bytes; by default a small file of the type. */
      base64: z.base64().optional(),
      mime_type: z.string().max(128).optional(),
      caption: z.string().max(4_096).optional(),
      filename: z.string().max(240).optional(),
      voice: z.boolean().optional(),
      animated: z.boolean().optional(),
    })
    .optional(),
  /** The id or label of a button or list row that was sent to this customer. */
  choose: label.optional(),
  button_reply: z.strictObject({ id: label, title: label }).optional(),
  list_reply: z
    .strictObject({ id: label, title: label, description: z.string().max(256).optional() })
    .optional(),
  /** Of a template's quick reply. */
  button: z.strictObject({ payload: label, text: label }).optional(),
  location: z
    .strictObject({
      latitude: z.number().min(-90).max(90),
      longitude: z.number().min(-180).max(180),
      name: z.string().optional(),
      address: z.string().optional(),
      url: z.string().optional(),
    })
    .optional(),
  /** Without an emoji the reaction is removed. */
  reaction: z.strictObject({ message_id: label, emoji: z.string().max(64).optional() }).optional(),
  ...changeFields,
  contacts: z.array(object).min(1).max(100).optional(),
  order: object.optional(),
  /** The answers of a flow, as a JSON text. */
  flow_reply: z.strictObject({ response_json: z.string(), name: z.string().default("flow") }).optional(),
  /** A type that the Cloud API does not pass on. */
  unsupported: z.strictObject({ type: z.string().max(64).default("unknown") }).optional(),
  /** Any other message: its type and members. */
  raw: object.and(z.object({ type: label })).optional(),
};

export const contentNames = [
  "text",
  "media",
  "choose",
  "button_reply",
  "list_reply",
  "button",
  "location",
  "reaction",
  "edit",
  "revoke",
  "contacts",
  "order",
  "flow_reply",
  "unsupported",
  "raw",
] as const;

type ContentInput = z.output<z.ZodObject<typeof contentFields>>;

interface ContentSource extends Conversation {
  readonly input: ContentInput;
}

export function toContent(world: World, source: ContentSource): Content {
  const { input, phone } = source;
  const { text, media, choose, flow_reply, unsupported, raw } = input;
  if (choose !== undefined) {
    return findChoice(world, source, choose);
  }
  if (media) {
    return { body: toMedia(world, phone, media) };
  }
  if (flow_reply) {
    const nfm_reply = { name: flow_reply.name, body: "Sent", response_json: flow_reply.response_json };
    return interactive({ type: "nfm_reply", nfm_reply });
  }
  if (unsupported) {
    return { body: toUnsupported(unsupported.type) };
  }
  if (text !== undefined) {
    return { body: message("text", { body: text }) };
  }
  return raw ? { body: raw } : (applyChange(world, source.customer, input) ?? toSimple(input));
}

/** Contents that webhooks have as they are given. */
function toSimple({ button_reply, list_reply, ...input }: ContentInput): Content {
  if (button_reply) {
    return interactive({ type: "button_reply", button_reply });
  }
  if (list_reply) {
    return interactive({ type: "list_reply", list_reply });
  }
  const [name = "", value] =
    Object.entries({
      button: input.button,
      location: input.location,
      reaction: input.reaction,
      contacts: input.contacts,
      order: input.order,
    }).find(([, one]) => one !== undefined) ?? [];
  return { body: message(name, value) };
}

function toMedia(
  world: World,
  phone: Phone,
  input: NonNullable<ContentInput["media"]>,
): { readonly type: string } {
  const sample = sampleFiles[input.type];
  const { type, base64, mime_type = sample.mime_type, caption, filename, voice, animated } = input;
  const bytes = base64 === undefined ? sample.bytes : Buffer.from(base64, "base64");
  const stored = storeMedia(world, {
    phone_id: phone.id,
    bytes,
    mime_type,
    file_name: filename ?? null,
    origin: "inbound",
  });
  return message(type, {
    ...(caption === undefined ? {} : { caption }),
    ...(filename === undefined ? {} : { filename }),
    mime_type,
    sha256: stored.sha256,
    id: stored.id,
    url: mediaUrl(world, stored),
    ...(type === "audio" ? { voice: voice ?? false } : {}),
    ...(type === "sticker" ? { animated: animated ?? false } : {}),
  });
}

function toUnsupported(type: string) {
  const title = "Message type unknown";
  const errors = [
    {
      code: 131051,
      title,
      message: title,
      error_data: { details: "Message type is currently not supported." },
    },
  ];
  return { type: "unsupported", errors, unsupported: { type } };
}
