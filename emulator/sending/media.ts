/**
 * The files of a message: an id must exist, and its file must be of the message's kind. Links are fetched.
 */
import { invalidParameter } from "../contract/graph-error.ts";
import { isMediaKind, isOfKind, type MediaKind } from "../contract/media-types.ts";
import type { Fields } from "../contract/validate.ts";
import { storeMedia } from "../graph/media.ts";
import type { SentMessage } from "../state/messages.ts";
import { findNode } from "../state/store.ts";
import type { World } from "../world.ts";
import type { LinkedFile } from "./links.ts";

/**
 * @returns 131053 if a file is not of the message's kind or too large for it
 * @throws GraphError for an id that does not exist
 */
export function findMediaFailure(world: World, message: Fields): number | undefined {
  const references = findReferences(message, "");
  for (const { id, path, kind } of references) {
    if (id === undefined) {
      continue;
    }
    const media = findNode(world.store, "media", id);
    if (!media || media.expires_at <= world.clock.now()) {
      throw invalidParameter(
        `Param ${path}['id'] is not a valid whatsapp business account media attachment ID`,
      );
    }
    if (!isOfKind(media, kind)) {
      return 131053;
    }
  }
  return undefined;
}

/** Fetches the files that a message names by links, and keeps them. `done` gets 131053 if that fails. */
export function fetchLinks(
  world: World,
  message: SentMessage,
  done: (code: number | undefined) => void,
): void {
  const links = findReferences(message.body, "").flatMap(({ link, kind }) =>
    link === undefined ? [] : [{ link, kind }],
  );
  if (links.length === 0) {
    done(undefined);
    return;
  }
  world.links.fetch(links, (files) => {
    message.files.push(...(files ?? []).map((file) => keep(world, message, file)));
    done(files ? undefined : 131053);
  });
}

function keep(
  world: World,
  { phone_number_id: phone_id }: SentMessage,
  { link, mime_type, bytes }: LinkedFile,
) {
  const { id } = storeMedia(world, { phone_id, bytes, mime_type, file_name: null, origin: "upload" });
  return { link, media_id: id, mime_type, file_size: bytes.length };
}

interface Reference {
  readonly id: string | undefined;
  readonly link: string | undefined;
  readonly path: string;
  readonly kind: MediaKind;
}

/**
 * Media objects stand under the name of their kind: in the message, in headers and in template parameters.
 */
function findReferences(value: unknown, path: string): Reference[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([name, inner]) => {
    const innerPath = path === "" ? name : `${path}[${Array.isArray(value) ? name : `'${name}'`}]`;
    const { id: anyId, link: anyLink } = Object(inner);
    const id = typeof anyId === "string" ? anyId : undefined;
    const link = typeof anyLink === "string" ? anyLink : undefined;
    return isMediaKind(name) && (id ?? link) !== undefined
      ? [{ id, link, path: innerPath, kind: name }]
      : findReferences(inner, innerPath);
  });
}
