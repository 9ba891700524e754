/** Files in messages: an address of our own stands for its upload, and the channel's limits hold for that. */
import { fail } from "../../../tools/errors.ts";
import type { mediaTypes } from "../../../tools/messages/index.ts";
import type { Transaction } from "../../database/database.ts";
import type { MessageContent, Outbound } from "../../ports/channel.ts";
import type { World } from "../kernel/index.ts";
import { findUploadAt, freshLink } from "../uploads/index.ts";

export type MediaType = (typeof mediaTypes)[number];

const office = "application/vnd.openxmlformats-officedocument";
const megabyte = 1024 * 1024;

/** What WhatsApp takes (developers.facebook.com, Cloud API, reference of media). */
const limits: Record<MediaType, { readonly bytes: number; readonly types: readonly string[] }> = {
  image: { bytes: 5 * megabyte, types: ["image/jpeg", "image/png"] },
  video: { bytes: 16 * megabyte, types: ["video/mp4", "video/3gpp"] },
  audio: {
    bytes: 16 * megabyte,
    types: ["audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"],
  },
  document: {
    bytes: 100 * megabyte,
    types: [
      "text/plain",
      "application/pdf",
      "application/msword",
      "application/vnd.ms-excel",
      "application/vnd.ms-powerpoint",
      `${office}.wordprocessingml.document`,
      `${office}.spreadsheetml.sheet`,
      `${office}.presentationml.presentation`,
    ],
  },
};

interface Wanted {
  readonly organization: string;
  readonly type: MediaType;
  readonly media_url: string;
  readonly caption?: string | undefined;
  readonly file_name?: string | undefined;
}

/**
 * What is stored of a file that is sent; `upload` is its key, where it is one of ours.
 * @throws Failure `upload_not_found`, for a neighbour's too; `media_not_sendable`.
 */
export async function mediaOf(tx: Transaction, { organization, type, ...given }: Wanted) {
  const { media_url: url, caption = null, file_name = null } = given;
  const upload = await findUploadAt(tx, organization, url);
  if (!upload) {
    return { url, caption, file_name };
  }
  const { bytes, types } = limits[type];
  const size = upload.file_size ?? 0;
  const reason = types.includes(upload.content_type)
    ? `it has ${size} bytes.`
    : `it is ${upload.content_type}.`;
  if (size > bytes || !types.includes(upload.content_type)) {
    throw fail("media_not_sendable", {
      media_type: type,
      reason,
      limit: bytes,
      known: types.join(", "),
      param: "media_url",
    });
  }
  const shown = type === "document" ? (file_name ?? upload.file_name) : file_name;
  return { url, caption, file_name: shown, upload: upload.key };
}

/** The message as the channel is given it: the link to an upload is made when it is sent. */
export async function withFreshLink(world: World, outbound: Outbound): Promise<Outbound> {
  if (!("media" in outbound.content)) {
    return outbound;
  }
  // Stored by `mediaOf`, above.
  const { upload, ...media } = outbound.content.media as Stored;
  const url = upload === undefined ? media.url : await freshLink(world, upload);
  return { ...outbound, content: { ...outbound.content, media: { ...media, url } } };
}

type Stored = Extract<MessageContent, { readonly media: unknown }>["media"] & { readonly upload?: string };
