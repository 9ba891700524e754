/**
 * The kinds of file that are taken: what each is called, what it is declared as, and what must be in it.
 *
 * A kind is chosen by the name's ending; the declared type and the content must then agree with it.
 */
import { type Trait, traits } from "./traits.ts";

export type MediaClass = "image" | "video" | "audio" | "document" | "csv";

export interface Kind {
  /** The media type under which it is kept and served. */
  readonly type: string;
  readonly class: MediaClass;
  readonly endings: readonly string[];
  /** What senders call it beside its type. */
  readonly aliases: readonly string[];
  readonly trait: Trait;
}

const office = "application/vnd.openxmlformats-officedocument";

const kind = (
  mediaClass: MediaClass,
  type: string,
  endings: string,
  trait: Trait,
  aliases: readonly string[] = [],
): Kind => ({ type, class: mediaClass, endings: endings.split(" "), aliases, trait });

export const kinds: readonly Kind[] = [
  kind("image", "image/jpeg", "jpg jpeg", traits.media("image/jpeg"), ["image/jpg", "image/pjpeg"]),
  kind("image", "image/png", "png", traits.media("image/png", "image/apng"), ["image/apng"]),
  kind("image", "image/gif", "gif", traits.media("image/gif")),
  kind("image", "image/webp", "webp", traits.media("image/webp")),
  kind("video", "video/mp4", "mp4", traits.media("video/mp4", "video/x-m4v")),
  kind("video", "video/3gpp", "3gp", traits.media("video/3gpp")),
  kind("audio", "audio/aac", "aac", traits.media("audio/aac"), ["audio/x-aac"]),
  kind("audio", "audio/amr", "amr", traits.media("audio/amr")),
  kind("audio", "audio/mpeg", "mp3", traits.media("audio/mpeg"), ["audio/mp3"]),
  // Whether an MP4 container holds a picture does not stand in its first bytes.
  kind("audio", "audio/mp4", "m4a", traits.media("audio/mp4", "audio/x-m4a", "video/mp4"), [
    "audio/x-m4a",
    "audio/m4a",
  ]),
  kind("audio", "audio/ogg", "ogg opus", traits.media("audio/ogg", "audio/ogg; codecs=opus"), [
    "audio/opus",
    "application/ogg",
  ]),
  kind("document", "application/pdf", "pdf", traits.pdf, ["application/x-pdf"]),
  kind("document", `${office}.wordprocessingml.document`, "docx", traits.package("word/document")),
  kind("document", `${office}.spreadsheetml.sheet`, "xlsx", traits.package("xl/workbook")),
  kind("document", `${office}.presentationml.presentation`, "pptx", traits.package("ppt/presentation")),
  kind("document", "application/msword", "doc", traits.compound("WordDocument")),
  kind("document", "application/vnd.ms-excel", "xls", traits.compound("Workbook")),
  kind("document", "application/vnd.ms-powerpoint", "ppt", traits.compound("PowerPoint Document")),
  kind("document", "text/plain", "txt", traits.text),
  // Windows declares what it opens with Excel as Excel's.
  kind("csv", "text/csv", "csv", traits.text, [
    "text/plain",
    "application/csv",
    "application/vnd.ms-excel",
    "text/comma-separated-values",
  ]),
];

const byEnding = new Map(kinds.flatMap((one) => one.endings.map((ending) => [ending, one] as const)));

/** Every ending that is taken, for the refusal of another. */
export const knownEndings = [...byEnding.keys()].join(", ");

export function kindOfName(name: string): Kind | undefined {
  return byEnding.get(/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "");
}

/** Whether a declared type says the same as the name, or nothing. */
export function agrees({ type, aliases }: Kind, declared: string | undefined): boolean {
  const bare = declared?.split(";")[0]?.trim().toLowerCase() ?? "";
  return ["", "application/octet-stream", "binary/octet-stream", type, ...aliases].includes(bare);
}

/** The first ending of a type, for a file whose address does not end with one. */
export function endingOfType(declared: string | undefined): string | undefined {
  const bare = declared?.split(";")[0]?.trim().toLowerCase() ?? "";
  const found = kinds.find((one) => one.type === bare) ?? kinds.find((one) => one.aliases.includes(bare));
  return found?.endings[0];
}
