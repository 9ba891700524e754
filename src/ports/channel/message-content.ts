/** The content of a message: as a channel sends it, and as a contact sends it. */

import type { Interactive, ReceivedContent } from "../../../tools/messages/index.ts";
import type { TemplateButton } from "../../../tools/templates/index.ts";

export type { ReceivedContent };

/** A text, or a file, of either direction. */
type TextContent = Extract<ReceivedContent, { readonly type: "text" }>;
type MediaContent = Extract<ReceivedContent, { readonly media: unknown }>;

export type MediaType = MediaContent["type"];

/** A file of this service's own store, for a channel with accounts. */
export interface ChannelFile {
  /** Names the file; another file never gets it. */
  readonly key: string;
  readonly content_type: string;
  readonly size: number;
  /** Undefined if it has been deleted. */
  read(): Promise<AsyncIterable<Uint8Array> | undefined>;
}

/** A file as a channel sends it: an address, or a file of this service's own store. */
interface SentFile {
  readonly file?: ChannelFile | undefined;
}

export type MessageContent =
  | TextContent
  | { readonly type: MediaType; readonly media: MediaContent["media"] & SentFile }
  | { readonly type: "interactive"; readonly interactive: Interactive }
  | { readonly type: "template"; readonly template: TemplateMessage };

/** A template with the values of its variables, and the texts that result. */
export interface TemplateMessage {
  readonly name: string;
  readonly language: string;
  readonly header:
    | { readonly type: "text"; readonly text: string }
    | {
        readonly type: Exclude<MediaType, "audio">;
        readonly media: Omit<MediaContent["media"], "caption"> & SentFile;
      }
    | null;
  readonly body: string;
  readonly footer: string | null;
  /** A quick reply's `payload` is returned when the contact taps it; by default its text is. */
  readonly buttons: readonly (TemplateButton & { readonly payload?: string | undefined })[];
  /** What the channel fills in, in the order of the placeholders. */
  readonly values: {
    readonly header: readonly string[];
    readonly body: readonly string[];
    /** The variable end of a url button's address. */
    readonly buttons: readonly { readonly index: number; readonly value: string }[];
  };
}
