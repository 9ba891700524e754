/**
 * The kinds of files that are accepted: their extensions, media types and rules for the content.
 *
 * The extension of the file name selects the kind; the declared type and the content must match it.
 */
import { type ContentRule, contentRules } from "./content-rules.ts";

export type MediaClass = "image" | "video" | "audio" | "document" | "csv";

export interface FileKind {
  /** The media type with which files are stored and served. */
  readonly type: string;
  readonly class: MediaClass;
  readonly extensions: readonly string[];
  /** Other media types that senders declare for this kind. */
  readonly aliases: readonly string[];
  readonly contentRule: ContentRule;
}

const office = "application/vnd.openxmlformats-officedocument";

const kind = (
  mediaClass: MediaClass,
  type: string,
  extensions: string,
  contentRule: ContentRule,
  aliases: readonly string[] = [],
): FileKind => ({ type, class: mediaClass, extensions: extensions.split(" "), aliases, contentRule });

export const fileKinds: readonly FileKind[] = [
  kind("image", "image/jpeg", "jpg jpeg", contentRules.media("image/jpeg"), ["image/jpg", "image/pjpeg"]),
  kind("image", "image/png", "png", contentRules.media("image/png", "image/apng"), ["image/apng"]),
  kind("image", "image/gif", "gif", contentRules.media("image/gif")),
  kind("image", "image/webp", "webp", contentRules.media("image/webp")),
  kind("video", "video/mp4", "mp4", contentRules.media("video/mp4", "video/x-m4v")),
  kind("video", "video/3gpp", "3gp", contentRules.media("video/3gpp")),
  kind("video", "video/quicktime", "mov", contentRules.media("video/quicktime")),
  // The detector does not say whether a WebM container has a video track.
  kind("video", "video/webm", "webm", contentRules.media("video/webm"), ["audio/webm"]),
  kind("audio", "audio/webm", "weba", contentRules.media("video/webm")),
  kind("audio", "audio/wav", "wav", contentRules.media("audio/wav"), [
    "audio/x-wav",
    "audio/wave",
    "audio/vnd.wave",
  ]),
  kind("audio", "audio/aac", "aac", contentRules.media("audio/aac"), ["audio/x-aac"]),
  kind("audio", "audio/amr", "amr", contentRules.media("audio/amr")),
  kind("audio", "audio/mpeg", "mp3", contentRules.media("audio/mpeg"), ["audio/mp3"]),
  // The first bytes of an MP4 container do not say whether it has a video track.
  kind("audio", "audio/mp4", "m4a", contentRules.media("audio/mp4", "audio/x-m4a", "video/mp4"), [
    "audio/x-m4a",
    "audio/m4a",
  ]),
  kind("audio", "audio/ogg", "ogg opus", contentRules.media("audio/ogg", "audio/ogg; codecs=opus"), [
    "audio/opus",
    "application/ogg",
  ]),
  kind("document", "application/pdf", "pdf", contentRules.pdf, ["application/x-pdf"]),
  kind("document", `${office}.wordprocessingml.document`, "docx", contentRules.package("word/document")),
  kind("document", `${office}.spreadsheetml.sheet`, "xlsx", contentRules.package("xl/workbook")),
  kind("document", `${office}.presentationml.presentation`, "pptx", contentRules.package("ppt/presentation")),
  kind("document", "application/msword", "doc", contentRules.compound("WordDocument")),
  kind("document", "application/vnd.ms-excel", "xls", contentRules.compound("Workbook")),
  kind("document", "application/vnd.ms-powerpoint", "ppt", contentRules.compound("PowerPoint Document")),
  kind("document", "text/plain", "txt", contentRules.text),
  kind("document", "text/markdown", "md markdown", contentRules.text, ["text/x-markdown", "text/plain"]),
  // Windows declares the type of the program that opens the file, which may be Excel.
  kind("csv", "text/csv", "csv", contentRules.text, [
    "text/plain",
    "application/csv",
    "application/vnd.ms-excel",
    "text/comma-separated-values",
  ]),
];

const byExtension = new Map(
  fileKinds.flatMap((fileKind) => fileKind.extensions.map((extension) => [extension, fileKind] as const)),
);

/** All accepted extensions, for the error message. */
export const knownExtensions = [...byExtension.keys()].join(", ");

export function kindOfName(name: string): FileKind | undefined {
  return byExtension.get(/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "");
}

/** Whether a declared type matches the kind, or is unspecific. */
export function matchesDeclaredType({ type, aliases }: FileKind, declared: string | undefined): boolean {
  const known = ["", "application/octet-stream", "binary/octet-stream", type, ...aliases];
  return known.includes(withoutParameters(declared));
}

/** The first extension of a type, for a URL without an extension. */
export function extensionOfType(declared: string | undefined): string | undefined {
  const type = withoutParameters(declared);
  const fileKind =
    fileKinds.find((candidate) => candidate.type === type) ??
    fileKinds.find((candidate) => candidate.aliases.includes(type));
  return fileKind?.extensions[0];
}

/** A name such as image.jpg for a file of this type without a name. */
export function nameOfType(base: string, declared: string): string {
  return `${base}.${extensionOfType(declared) ?? "bin"}`;
}

/** "text/csv; charset=utf-8" becomes "text/csv". */
function withoutParameters(type: string | undefined): string {
  return type?.split(";")[0]?.trim().toLowerCase() ?? "";
}
