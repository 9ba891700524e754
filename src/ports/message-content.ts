/** The content of a message, as a channel gets it and, in part, as contacts send it. */

import type { Interactive } from "../../tools/messages/index.ts";
import type { TemplateButton } from "../../tools/templates/index.ts";

/** A file of this service's own store, for a channel with accounts. */
export interface ChannelFile {
  /** Names the file; another file never gets it. */
  readonly key: string;
  readonly content_type: string;
  readonly size: number;
  /** Undefined if it has been deleted. */
  read(): Promise<AsyncIterable<Uint8Array> | undefined>;
}

export type MessageContent =
  | { readonly type: "text"; readonly text: { readonly body: string } }
  | {
      readonly type: "image" | "video" | "document" | "audio";
      readonly media: {
        readonly url: string;
        readonly caption: string | null;
        readonly file_name: string | null;
        readonly file?: ChannelFile | undefined;
      };
    }
  | { readonly type: "interactive"; readonly interactive: Interactive }
  | { readonly type: "template"; readonly template: TemplateMessage };

/** A template with the values of its variables, and the texts that result. */
export interface TemplateMessage {
  readonly name: string;
  readonly language: string;
  readonly header:
    | { readonly type: "text"; readonly text: string }
    | {
        readonly type: "image" | "video" | "document";
        readonly media: {
          readonly url: string;
          readonly file_name: string | null;
          readonly file?: ChannelFile | undefined;
        };
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
