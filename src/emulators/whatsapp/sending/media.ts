/** The files of a message: an id must exist, and its file must be of the message's kind. */
import { invalidParameter } from "../contract/graph-error.ts";
import { kindOf, mediaKinds, mediaRules } from "../contract/media-types.ts";
import type { Fields } from "../contract/validate.ts";
import { findNode } from "../state/store.ts";
import type { World } from "../world.ts";

/**
 * @returns 131053 if a file is not of the message's kind or too large for it
 * @throws GraphError for an id that does not exist
 */
export function findMediaFailure(world: World, message: Fields): number | undefined {
  const references = findReferences(message, "");
  for (const { id, path, kind } of references) {
    const media = findNode(world.store, "media", id);
    if (!media || media.expires_at <= world.clock.now()) {
      throw invalidParameter(
        `Param ${path}['id'] is not a valid whatsapp business account media attachment ID`,
      );
    }
    const rule = Object.entries(mediaRules).find(([name]) => name === kind)?.[1];
    if (rule && (kindOf(media.mime_type) !== kind || media.bytes.length > rule.maxBytes)) {
      return 131053;
    }
  }
  return undefined;
}

interface Reference {
  readonly id: string;
  readonly path: string;
  readonly kind: string;
}

/** Media objects stand under the name of their kind: in the message, in headers and in template parameters. */
function findReferences(value: unknown, path: string): Reference[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([name, inner]) => {
    const innerPath = path === "" ? name : `${path}[${Array.isArray(value) ? name : `'${name}'`}]`;
    const { id } = Object(inner);
    return mediaKinds.includes(name) && typeof id === "string"
      ? [{ id, path: innerPath, kind: name }]
      : findReferences(inner, innerPath);
  });
}
