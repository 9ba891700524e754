/** Columns of message templates. */

type Button = {
  readonly type: "quick_reply" | "url" | "phone_number" | "copy_code" | "form";
  readonly text: string;
  readonly url?: string | undefined;
  readonly phone_number?: string | undefined;
  /** Of a button for a form. */
  readonly flow_id?: string | undefined;
};

type Authentication = {
  readonly button: "copy_code" | "one_tap" | "zero_tap";
  readonly add_security_recommendation: boolean;
  readonly code_expiration_minutes?: number | undefined;
  readonly apps?: { readonly package_name: string; readonly signature_hash: string }[] | undefined;
  readonly zero_tap_terms_accepted?: boolean | undefined;
};

type Card = {
  readonly header: { readonly type: "image" | "video"; readonly media_url?: string | undefined };
  readonly body?: string | undefined;
  readonly buttons?: Button[] | undefined;
};

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
    readonly buttons?: Button[] | undefined;
    /** Of a template for codes. */
    readonly authentication?: Authentication | undefined;
    /** Of a limited-time offer. */
    readonly offer?: { readonly text: string; readonly has_expiration: boolean } | undefined;
    /** Of a carousel. */
    readonly cards?: Card[] | undefined;
    /** How long the channel tries to deliver a message. */
    readonly message_send_ttl_seconds?: number | undefined;
  };
  /** In the order of their places: header, body, buttons, offer, cards. */
  readonly variables: {
    readonly name: string;
    readonly component:
      | "HEADER"
      | "BODY"
      | "BUTTONS"
      | "OFFER"
      | "CARD_HEADER"
      | "CARD_BODY"
      | "CARD_BUTTONS";
    readonly button_index?: number | undefined;
    readonly card_index?: number | undefined;
    readonly example?: string | undefined;
  }[];
};

/** The place of a location header. */
type TemplateLocation = {
  /** In degrees. */
  readonly latitude: number;
  readonly longitude: number;
  readonly name: string;
  readonly address: string;
};

/** A file of a template in a message. */
type TemplateFile = {
  readonly url: string;
  readonly file_name: string | null;
  /** The storage key of a file that was uploaded here. */
  readonly upload?: string | undefined;
};

/** What a button of a template is sent with. */
type TemplateButtonValue = {
  readonly index: number;
  readonly value: string;
  /** Of a form: the data of its first screen. */
  readonly data?: string;
};

/** A card of a carousel in a message. */
type SentTemplateCard = {
  readonly header: { readonly type: "image" | "video"; readonly media: TemplateFile };
  readonly body: string | null;
  readonly buttons: (Button & { readonly payload?: string | undefined })[];
  readonly values: {
    readonly body: readonly string[];
    /** Of a body whose variables have names. */
    readonly names?: readonly string[];
    readonly buttons: readonly TemplateButtonValue[];
  };
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
        readonly media: TemplateFile;
      }
    | { readonly type: "location"; readonly location: TemplateLocation }
    | null;
  readonly body: string;
  readonly footer: string | null;
  readonly buttons: (Button & {
    readonly payload?: string | undefined;
    readonly code?: string | undefined;
  })[];
  readonly offer?: {
    readonly text: string;
    /** ISO 8601; null if the message does not show it. */
    readonly expires_at: string | null;
  };
  readonly cards?: SentTemplateCard[];
  readonly values: {
    readonly header: readonly string[];
    readonly body: readonly string[];
    /** Of a template whose variables have names: those of the values in header and body. */
    readonly names?: { readonly header: readonly string[]; readonly body: readonly string[] };
    readonly buttons: readonly TemplateButtonValue[];
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
