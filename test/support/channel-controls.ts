/** What journeys need of a channel: its customers, its clock and its faults. */
import type { TestApp } from "./app.ts";

export interface SentFile {
  readonly type: "image" | "document";
  readonly bytes: Buffer;
  readonly mime_type: string;
  readonly caption: string;
  /** Where the simulated channel has it. WhatsApp has files by id. */
  readonly url: string;
}

/** What the phone shows of a message to it. */
export interface ShownMessage {
  readonly type: string;
  readonly status: string;
  /** The text, the text above choices, a template's text with its values, or a caption. */
  readonly text: string | null;
  /** The text of the customer's that it quotes. */
  readonly quotes: string | null;
  /** The labels of buttons and rows. */
  readonly choices: readonly string[];
  readonly file: Buffer | null;
}

export interface CustomerPhone {
  write(text: string, more?: { readonly name?: string }): Promise<void>;
  /** Quotes our newest message. */
  quote(text: string): Promise<void>;
  /** Reacts to our newest message; null removes the reaction. */
  react(emoji: string | null): Promise<void>;
  /** Gives the customer's own newest text another one; null deletes it. */
  edit(text: string | null): Promise<void>;
  /** Taps the button or row with this label. */
  choose(label: string): Promise<void>;
  sendFile(file: SentFile): Promise<void>;
  /** Reads everything. */
  read(): Promise<void>;
  /** The messages to the phone, oldest first. */
  shown(): Promise<ShownMessage[]>;
}

export interface Customer {
  /** A phone number, or the user id of a customer who hides the number. */
  readonly address: string;
  readonly hidesNumber: boolean;
}

/** What differs between the channels. */
export interface ChannelControls extends AsyncDisposable {
  readonly app: TestApp;
  readonly inbox_id: string;
  open(customer: Customer): CustomerPhone;
  /** Moves the clocks of the app and of the channel, and waits for all that becomes due. */
  advance(ms: number): Promise<void>;
  /** How templates are reviewed from now on. */
  review(settings: { readonly outcome?: "approve" | "reject"; readonly reason?: string }): Promise<void>;
  /** The code of Meta with which all messages fail; null: none fails. */
  failWith(code: number | null): Promise<void>;
}

type Reports = Pick<CustomerPhone, "write" | "quote" | "react" | "edit">;

/**
 * What a customer writes, and says about the newest message in a direction, in the form that both
 * channels' controls take.
 */
export function createReports(
  write: (content: object) => Promise<void>,
  newest: (direction: "inbound" | "outbound") => Promise<string | undefined>,
): Reports {
  return {
    write: (text, more) => write({ text, ...more }),
    quote: async (text) => write({ text, reply_to: await newest("outbound") }),
    async react(emoji) {
      const message_id = await newest("outbound");
      await write({ reaction: { message_id, ...(emoji === null ? {} : { emoji }) } });
    },
    async edit(text) {
      const message_id = await newest("inbound");
      await write(text === null ? { revoke: { message_id } } : { edit: { message_id, text } });
    },
  };
}
