/**
 * Media of messages and templates. The address of an upload stands for its file, which must meet the
 * channel's limits.
 */
import { fail, failField } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import type { StoredContent } from "../../../database/schema/index.ts";
import type { MediaLimit, MediaLimits } from "../../../ports/channel/capabilities.ts";
import type { MediaType } from "../../../ports/channel/message-content.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { createChannelLink, findChannelFile, findUploadAt, findUploadByKey } from "../uploads/index.ts";

/** Files that were downloaded before: their storage keys, by the addresses from which they come. */
export type KeptFiles = Readonly<Record<string, string>>;

interface MediaInput {
  readonly organization: string;
  readonly type: MediaType;
  readonly media_url: string;
  readonly caption?: string | undefined;
  readonly file_name?: string | undefined;
  /** Whether audio is sent as a voice message. */
  readonly voice?: true | undefined;
  /** The field with the address, for errors. */
  readonly field?: string;
  readonly files?: KeptFiles | undefined;
}

type StoredMedia = NonNullable<StoredContent["media"]>;

/**
 * Reads the upload of the address. The result checks the upload against the limits of a channel, and returns
 * the media in its stored form, in which `upload` is the storage key of an upload or of a kept file.
 * @throws Failure `upload_not_found`, also for another tenant's upload. The result throws
 * `content_not_supported` and `media_not_sendable`.
 */
export async function readMedia(
  db: Queries,
  input: MediaInput,
): Promise<(limits: MediaLimits) => StoredMedia> {
  const { organization, type, media_url: url, caption = null, file_name = null, field = "media_url" } = input;
  const kind = input.voice ? "voice" : type;
  const mark = input.voice ? { voice: true as const } : {};
  const upload = (await findUploadAt(db, organization, url, field)) ?? (await findKept(db, input));
  return (limits) => {
    const limit = limits[kind];
    if (!limit) {
      throw fail("content_not_supported", { content: `messages of type ${kind}` });
    }
    if (!upload) {
      return { url, caption, file_name, ...mark };
    }
    requireSendable(upload, limit, { type: kind, field });
    const shownName = type === "document" ? (file_name ?? upload.file_name) : file_name;
    return { url, caption, file_name: shownName, upload: upload.key, ...mark };
  };
}

/** @throws Failure `upload_not_found` if the kept file was deleted. */
async function findKept(
  db: Queries,
  { organization, media_url, files, field = "media_url" }: MediaInput,
): Promise<Awaited<ReturnType<typeof findUploadAt>>> {
  const key = files?.[media_url];
  const upload = key === undefined ? undefined : await findUploadByKey(db, organization, key);
  if (key !== undefined && !upload) {
    throw failField(field, "upload_not_found");
  }
  return upload;
}

/** As `readMedia`, for a channel that is known already. @throws Failure as `readMedia` and its result. */
export async function toMediaContent(
  db: Queries,
  { limits, ...input }: MediaInput & { readonly limits: MediaLimits },
): Promise<StoredMedia> {
  return (await readMedia(db, input))(limits);
}

function requireSendable(
  { file_size, content_type }: NonNullable<Awaited<ReturnType<typeof findUploadAt>>>,
  { maxBytes, contentTypes }: MediaLimit,
  { type: media_type, field: param }: { readonly type: MediaType | "voice"; readonly field: string },
): void {
  const size = file_size ?? 0;
  const isKnownType = contentTypes.includes(content_type);
  if (size > maxBytes || !isKnownType) {
    throw fail("media_not_sendable", {
      media_type,
      reason: isKnownType ? `it has ${size} bytes.` : `it is ${content_type}.`,
      limit: maxBytes,
      known: contentTypes.join(", "),
      param,
    });
  }
}

/** Whom the media goes to: a channel gets the file itself, and a link to it if it fetches files. */
export interface MediaTarget {
  readonly organization: string;
  readonly fetchesFiles: boolean;
}

/**
 * Returns the media in the form that the channel receives. The link to an upload is signed now, because it
 * expires.
 */
export async function toChannelMedia<
  Media extends { readonly url: string; readonly upload?: string | undefined },
>(world: World, { organization, fetchesFiles }: MediaTarget, { upload, ...media }: Media) {
  if (upload === undefined) {
    return media;
  }
  const file = await findChannelFile(world, organization, upload);
  return fetchesFiles ? { ...media, file, url: await createChannelLink(world, upload) } : { ...media, file };
}
