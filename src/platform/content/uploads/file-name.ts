/** File names that are safe to show and to save a file under. */
import { cutText } from "../../../texts/cut.ts";

/**
 * Characters that end lines, hide extensions (direction marks), or have a meaning in file systems or headers.
 */
const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029<>:"|?*]/gu;

const maxLength = 200;

/**
 * The last segment of a path without unsafe characters, shortened in front of its extension; may be empty.
 */
export function sanitizeFileName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const safe = last
    .normalize("NFC")
    .replace(unsafeCharacters, "")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^\.+/, "");
  const extension = /\.[^.]{1,16}$/.exec(safe)?.[0] ?? "";
  return safe.length <= maxLength ? safe : cutText(safe, maxLength - extension.length) + extension;
}

/** The `Content-Disposition` header with a file name (RFC 6266). */
export function contentDisposition(kind: "inline" | "attachment", name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
