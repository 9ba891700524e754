/** The file of an upload or a message, and its bytes: stored here, or at another address. */
import { fail } from "../../../../tools/errors.ts";
import { maxUploadBytes } from "../../../../tools/uploads.ts";
import { readBytes } from "../../../streams/bytes.ts";
import type { ReadContext, World } from "../../foundation/kernel/index.ts";
import { findUploadAt, findUploadByKey, type UploadRow } from "../uploads/index.ts";

export interface StoredFile {
  readonly content_type: string;
  readonly file_name: string | null;
  readonly bytes: Uint8Array;
}

/** The media of a stored message or of a template's header. */
interface MessageMedia {
  readonly url: string;
  readonly file_name: string | null;
  readonly upload?: string | undefined;
}

/** For an address on the web; the caller waits. */
const fetchTimeoutMs = 15_000;

/** @throws Failure `upload_not_found` if the file was deleted meanwhile. */
export async function uploadedFile(world: World, upload: UploadRow): Promise<StoredFile> {
  const { key, content_type, file_name } = upload;
  const body = await world.storage.read(key);
  if (!body) {
    throw fail("upload_not_found");
  }
  return { content_type, file_name, bytes: await readBytes(body, maxUploadBytes, tooLarge) };
}

/** @throws Failure `message_without_file`, `media_not_viewable`. */
export async function findMessageFile(
  { world, db, organization, signal }: ReadContext,
  { url, file_name, upload: key }: MessageMedia,
): Promise<StoredFile> {
  const upload =
    key === undefined
      ? await findUploadAt(db, organization, url)
      : await findUploadByKey(db, organization, key);
  if (upload) {
    return { ...(await uploadedFile(world, upload)), ...(file_name === null ? {} : { file_name }) };
  }
  if (key !== undefined) {
    throw fail("message_without_file", { reason: "it was deleted." });
  }
  return fetchMessageFile(world, { url, file_name, signal });
}

async function fetchMessageFile(
  world: World,
  { url, file_name, signal }: MessageMedia & { readonly signal: AbortSignal },
): Promise<StoredFile> {
  const request = {
    method: "GET",
    url,
    timeoutMs: fetchTimeoutMs,
    maxBytes: maxUploadBytes,
    signal,
  } as const;
  const download = await world.web.download(request, async ({ status, headers, body }) => {
    if (status !== 200) {
      throw unreadable(`its address answers with ${status}.`);
    }
    const [content_type = ""] = (headers["content-type"] ?? "").split(";");
    const bytes = await readBytes(body, maxUploadBytes, tooLarge);
    return { content_type: content_type.trim().toLowerCase(), file_name, bytes };
  });
  signal.throwIfAborted();
  if (download.outcome !== "answered") {
    throw unreadable(`its address can't be read: ${download.detail}`);
  }
  return download.value;
}

function tooLarge() {
  return unreadable(`it has more than ${maxUploadBytes} bytes.`);
}

function unreadable(reason: string) {
  return fail("media_not_viewable", { reason, advice: "Ask the contact to send it again." });
}
