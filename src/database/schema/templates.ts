/** Columns of message templates. */

/** The version of a template that the authority reviews. */
export type StoredTemplateContent = {
  readonly category: "authentication" | "utility" | "marketing";
  readonly template_data: {
    readonly header?:
      | {
          readonly type: "text" | "image" | "video" | "document" | "location";
          readonly text?: string;
          readonly media_url?: string;
        }
      | undefined;
    readonly body: string;
    readonly footer?: string | undefined;
    readonly buttons?:
      | {
          readonly type: "quick_reply" | "url" | "phone_number" | "copy_code";
          readonly text: string;
          readonly url?: string | undefined;
          readonly phone_number?: string | undefined;
        }[]
      | undefined;
    /** How long the channel tries to deliver a message. */
    readonly message_send_ttl_seconds?: number | undefined;
  };
  /** In the order of their places: header, body, buttons. */
  readonly variables: {
    readonly name: string;
    readonly component: "HEADER" | "BODY" | "BUTTONS";
    readonly button_index?: number | undefined;
    readonly example?: string | undefined;
  }[];
};

type Button = NonNullable<StoredTemplateContent["template_data"]["buttons"]>[number];

/** The place of a location header. */
type TemplateLocation = {
  /** In degrees. */
  readonly latitude: number;
  readonly longitude: number;
  readonly name: string;
  readonly address: string;
};

/** A template in a message: the texts with the values of the variables, and the values themselves. */
export type SentTemplate = {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly category: StoredTemplateContent["category"];
  readonly header:
    | { readonly type: "text"; readonly text: string }
    | {
        readonly type: "image" | "video" | "document";
        readonly media: {
          readonly url: string;
          readonly file_name: string | null;
          /** The storage key of a file that was uploaded here. */
          readonly upload?: string | undefined;
        };
      }
    | { readonly type: "location"; readonly location: TemplateLocation }
    | null;
  readonly body: string;
  readonly footer: string | null;
  readonly buttons: (Button & {
    readonly payload?: string | undefined;
    readonly code?: string | undefined;
  })[];
  readonly values: {
    readonly header: readonly string[];
    readonly body: readonly string[];
    /** Of a template whose variables have names: those of the values in header and body. */
    readonly names?: { readonly header: readonly string[]; readonly body: readonly string[] };
    readonly buttons: readonly { readonly index: number; readonly value: string }[];
  };
};

export interface TemplateColumns {
  templates: {
    category: StoredTemplateContent["category"];
    status: "draft" | "pending" | "approved" | "rejected" | "paused" | "disabled";
    template_data: StoredTemplateContent["template_data"];
    variables: StoredTemplateContent["variables"];
    submitted: StoredTemplateContent;
    review_status: "pending" | "approved" | "rejected" | "paused" | "disabled";
    edits_submitted_at: readonly string[];
  };
}
