/** A file in the form of the Cloud API. */
import type { ChannelFile } from "../../../../ports/channel/message-content.ts";
import type * as contract from "../contract.ts";

/** The media ids of files that were uploaded to WhatsApp, by the file's key. */
export type MediaIds = ReadonlyMap<string, string>;

/**
 * The compiler does not find unknown members beside the spread of a union: so they are a
 * parameter of their own.
 */
export function toMedia<Media>(source: contract.MediaObject, members: Omit<Media, "id" | "link">) {
  return "id" in source ? { ...members, id: source.id } : { ...members, link: source.link };
}

/** Own files by their id at WhatsApp, others by their address. */
export function mediaSourceOf(
  { url, file }: { readonly url: string; readonly file?: ChannelFile | undefined },
  ids: MediaIds,
): contract.MediaObject {
  const id = file && ids.get(file.key);
  return id === undefined ? { link: url } : { id };
}
