/** Media of messages and templates. An address of one of our uploads stands for its file, which must meet the channel's limits. */
import { fail } from "../../../tools/errors.ts";
import type { Queries } from "../../database/database.ts";
import type { StoredContent } from "../../database/schema/index.ts";
import type { MediaType } from "../../ports/message-content.ts";
import type { World } from "../foundation/kernel/index.ts";
import { createChannelLink, findChannelFile, findUploadAt } from "./uploads/index.ts";

const office = "application/vnd.openxmlformats-officedocument";
const megabyte = 1024 * 1024;

/** What WhatsApp accepts (developers.facebook.com, Cloud API, media reference). */
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

interface MediaInput {
  readonly organization: string;
  readonly type: MediaType;
  readonly media_url: string;
  readonly caption?: string | undefined;
  readonly file_name?: string | undefined;
  /** The field with the address, for errors. */
  readonly field?: string;
}

type StoredMedia = NonNullable<StoredContent["media"]>;

/**
 * Returns the media as it is stored; `upload` is the storage key if the address is that of an upload.
 * @throws Failure `upload_not_found`, also for another tenant's upload; `media_not_sendable`.
 */
export async function toMediaContent(db: Queries, input: MediaInput): Promise<StoredMedia> {
  const { organization, type, media_url: url, caption = null, file_name = null, field = "media_url" } = input;
  const upload = await findUploadAt(db, organization, url, field);
  if (!upload) {
    return { url, caption, file_name };
  }
  const { bytes, types } = limits[type];
  const size = upload.file_size ?? 0;
  const isKnownType = types.includes(upload.content_type);
  if (size > bytes || !isKnownType) {
    throw fail("media_not_sendable", {
      media_type: type,
      reason: isKnownType ? `it has ${size} bytes.` : `it is ${upload.content_type}.`,
      limit: bytes,
      known: types.join(", "),
      param: field,
    });
  }
  const shownName = type === "document" ? (file_name ?? upload.file_name) : file_name;
  return { url, caption, file_name: shownName, upload: upload.key };
}

/** Whom the media goes to: a channel with accounts gets the file itself, any other a link to it too. */
export interface MediaTarget {
  readonly organization: string;
  readonly hasAccount: boolean;
}

/** Returns the media as the channel receives it. The link to an upload is signed now, because it expires. */
export async function toChannelMedia<
  Media extends { readonly url: string; readonly upload?: string | undefined },
>(world: World, { organization, hasAccount }: MediaTarget, { upload, ...media }: Media) {
  if (upload === undefined) {
    return media;
  }
  const file = await findChannelFile(world, organization, upload);
  return hasAccount ? { ...media, file } : { ...media, file, url: await createChannelLink(world, upload) };
}
