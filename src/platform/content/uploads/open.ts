/** Opens a file by its signed or public link. */
import { fail } from "../../../../tools/errors.ts";
import type { ByteRange } from "../../../ports/files/storage.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { contentDisposition } from "./file-name.ts";
import { selectUploads } from "./find.ts";
import { type LinkQuery, linkSecondsLeft } from "./links.ts";
import { isShownInline } from "./receive.ts";

export interface FileRequest extends LinkQuery {
  readonly organization: string;
  readonly name: string;
  /** The `Range` header, `bytes=0-99`; ignored if it can't be parsed. */
  readonly range?: string | undefined;
  /** Whether the body is left out. */
  readonly isHead: boolean;
}

export interface OpenedFile {
  readonly size: number;
  readonly type: string;
  readonly disposition: string;
  readonly sha256: string;
  readonly range: ByteRange | undefined;
  readonly cacheControl: string;
  readonly body: AsyncIterable<Uint8Array> | undefined;
}

/**
 * @throws Failure `link_invalid`, `file_not_found` (also while the organization is suspended),
 *   `range_not_satisfiable`.
 */
export async function openFile(world: World, request: FileRequest): Promise<OpenedFile> {
  const { organization, name, isHead } = request;
  const key = `${organization}/${name}`;
  const isSigned = request.expires !== undefined || request.signature !== undefined;
  const seconds = linkSecondsLeft(world, key, request);
  if (isSigned && seconds === 0) {
    throw fail("link_invalid");
  }
  // Without a CDN no file is public. These requests have no rate limit, so they are answered without a query.
  if (!isSigned && world.addresses.cdn === undefined) {
    throw fail("file_not_found");
  }
  const upload = await selectUploads(world.database.queries, organization)
    .where("key", "=", key)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("organizations")
          .select("id")
          .where("organizations.id", "=", organization)
          .where("suspended_at", "is", null),
      ),
    )
    .executeTakeFirst();
  if (!upload || (!isSigned && !upload.is_public)) {
    throw fail("file_not_found");
  }
  const size = upload.file_size ?? 0;
  const range = readRange(request.range, size);
  const body = isHead ? undefined : await world.storage.read(key, range);
  if (!isHead && !body) {
    throw fail("file_not_found");
  }
  return {
    size,
    type: upload.content_type,
    disposition: contentDisposition(
      isShownInline(upload.content_type) ? "inline" : "attachment",
      upload.file_name,
    ),
    sha256: upload.sha256 ?? "",
    range,
    cacheControl: isSigned ? `private, max-age=${seconds}, immutable` : "public, max-age=31536000, immutable",
    body,
  };
}

/** @throws Failure `range_not_satisfiable`. */
function readRange(header: string | undefined, size: number): ByteRange | undefined {
  const [, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (from === "" && to === "") {
    return undefined;
  }
  const start = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  if (start > end) {
    throw fail("range_not_satisfiable", { limit: size });
  }
  return { start, end };
}
