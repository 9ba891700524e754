/** The content of a message: as a channel sends it, and as a contact sends it. */

import type {
  Interactive,
  MediaPart,
  mediaTypes,
  ReceivedContent,
  ReceivedDetails,
  SentCard,
  SentLocation,
} from "../../../tools/messages/index.ts";
import type { cardHeaderTypes, mediaHeaderTypes, TemplateButton } from "../../../tools/templates/index.ts";

export type { Interactive, ReceivedContent, ReceivedDetails, SentCard, SentLocation };

export type MediaType = (typeof mediaTypes)[number];

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
  | {
      readonly type: "text";
      readonly text: {
        readonly body: string;
        /** Undefined: the channel's default. */
        readonly preview_url?: boolean | undefined;
      };
    }
  | { readonly type: MediaType; readonly media: MediaPart & SentFile }
  | { readonly type: "interactive"; readonly interactive: InteractiveContent }
  | { readonly type: "template"; readonly template: TemplateMessage }
  | ({ readonly type: "location"; readonly location: SentLocation } & Summarized)
  | ({ readonly type: "contacts"; readonly cards: readonly SentCard[] } & Summarized);

/** With the file of its header as a channel sends it. */
export type InteractiveContent = Omit<Interactive, "header_media"> & {
  readonly header_media?: (NonNullable<Interactive["header_media"]> & SentFile) | undefined;
};

interface Summarized {
  /** A readable text of the content. */
  readonly summary?: string | undefined;
}

/** The limited-time offer of a template. */
interface SentOffer {
  readonly text: string;
  /** ISO 8601; null if the message does not show it. */
  readonly expires_at: string | null;
}

/** What a button of a template is sent with. */
interface ButtonValue {
  readonly index: number;
  /** The variable end of a url button's address, the code of a copy_code button, or the token of a form. */
  readonly value: string;
  /** Of a form: the data of its first screen, a JSON object as text. */
  readonly data?: string | undefined;
}

/** A card of a carousel. */
export interface TemplateCard {
  readonly header: {
    readonly type: (typeof cardHeaderTypes)[number];
    readonly media: Omit<MediaPart, "caption" | "voice"> & SentFile;
  };
  readonly body: string | null;
  readonly buttons: readonly (TemplateButton & { readonly payload?: string | undefined })[];
  /** As those of a template. */
  readonly values: {
    readonly body: readonly string[];
    readonly names?: readonly string[];
    readonly buttons: readonly ButtonValue[];
  };
}

/** A template with the values of its variables, and the texts that result. */
export interface TemplateMessage {
  readonly name: string;
  readonly language: string;
  readonly header:
    | { readonly type: "text"; readonly text: string }
    | {
        readonly type: (typeof mediaHeaderTypes)[number];
        readonly media: Omit<MediaPart, "caption" | "voice"> & SentFile;
      }
    | { readonly type: "location"; readonly location: Required<SentLocation> }
    | null;
  readonly body: string;
  readonly footer: string | null;
  /** A quick reply's `payload` is returned when the contact taps it; by default its text is. */
  readonly buttons: readonly (TemplateButton & {
    readonly payload?: string | undefined;
    /** What a button of type copy_code copies. */
    readonly code?: string | undefined;
  })[];
  /** What the channel fills in, in the order of the placeholders. */
  /** Of an authentication template, whose texts and values hide it. It must not be stored or logged. */
  readonly code?: string | undefined;
  readonly offer?: SentOffer | undefined;
  readonly cards?: readonly TemplateCard[] | undefined;
  readonly values: {
    readonly header: readonly string[];
    readonly body: readonly string[];
    /** Of a template whose variables have names: those of the values in header and body. */
    readonly names?: { readonly header: readonly string[]; readonly body: readonly string[] };
    readonly buttons: readonly ButtonValue[];
  };
}
