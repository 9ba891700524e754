/** A file's name as its sender gave it, made fit to be shown and to be saved under. */

/** What ends lines, hides endings (direction marks) or means something to a file system or a header. */
const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029<>:"|?*]/gu;

const longest = 200;

/** The last part of any path, without unfit characters; its ending is kept when it is cut. Empty if nothing is left. */
export function sanitizeFileName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const bare = last
    .normalize("NFC")
    .replace(unsafeCharacters, "")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^\.+/, "");
  const ending = /\.[^.]{1,16}$/.exec(bare)?.[0] ?? "";
  return bare.length <= longest ? bare : bare.slice(0, longest - ending.length).toWellFormed() + ending;
}

/** How a browser is told to save a file under its name (RFC 6266). */
export function contentDisposition(kind: "inline" | "attachment", name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
