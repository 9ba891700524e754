/** The types and sizes of media that WhatsApp delivers. */

interface MediaRule {
  readonly types: readonly string[];
  readonly maxBytes: number;
}

const megabyte = 1024 * 1024;
const office = "application/vnd.openxmlformats-officedocument";

export const mediaRules = {
  image: { types: ["image/jpeg", "image/png"], maxBytes: 5 * megabyte },
  video: { types: ["video/mp4", "video/3gpp"], maxBytes: 16 * megabyte },
  audio: {
    types: ["audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"],
    maxBytes: 16 * megabyte,
  },
  document: {
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
    maxBytes: 100 * megabyte,
  },
  // Animated stickers may have 500 KB, static ones 100 KB: the emulator does not tell them apart.
  sticker: { types: ["image/webp"], maxBytes: 500 * 1024 },
} satisfies Record<string, MediaRule>;

export type MediaKind = keyof typeof mediaRules;

export function isMediaKind(type: string): type is MediaKind {
  return Object.hasOwn(mediaRules, type);
}

/** The largest file of any kind. */
export const maxMediaBytes = mediaRules.document.maxBytes;

/** Whether a file is of this kind and not too large for it. */
export function isOfKind(
  { mime_type, bytes }: { readonly mime_type: string; readonly bytes: Uint8Array },
  kind: MediaKind,
): boolean {
  return kindOf(mime_type) === kind && bytes.length <= mediaRules[kind].maxBytes;
}

/** The kind of a file. A document of another type is refused, as on upload. */
export function kindOf(mimeType: string): MediaKind | undefined {
  const type = mimeType.split(";")[0]?.trim().toLowerCase() ?? "";
  return Object.entries(mediaRules)
    .filter(([, { types }]) => (types as readonly string[]).includes(type)) // wider than the literal
    .map(([kind]) => kind)
    .find(isMediaKind);
}
