/** The table of message templates. */
import type { Generated } from "kysely";
import type { Json } from "./columns.ts";

/** A version of a template: what the authority reviews. */
export type TemplateContent = {
  readonly category: "authentication" | "utility" | "marketing";
  readonly template_data: {
    readonly header?:
      | {
          readonly type: "text" | "image" | "video" | "document";
          readonly text?: string;
          readonly media_url?: string;
        }
      | undefined;
    readonly body: string;
    readonly footer?: string | undefined;
    readonly buttons?:
      | {
          readonly type: "quick_reply" | "url" | "phone_number";
          readonly text: string;
          readonly url?: string | undefined;
          readonly phone_number?: string | undefined;
        }[]
      | undefined;
  };
  /** In the order of their places: header, body, buttons. */
  readonly variables: {
    readonly name: string;
    readonly component: "HEADER" | "BODY" | "BUTTONS";
    readonly button_index?: number | undefined;
    readonly example?: string | undefined;
  }[];
};

type Button = NonNullable<TemplateContent["template_data"]["buttons"]>[number];

/** A template in a message: the texts with the values of their variables, and these values. */
export type SentTemplate = {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly category: TemplateContent["category"];
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
    | null;
  readonly body: string;
  readonly footer: string | null;
  readonly buttons: (Button & { readonly payload?: string | undefined })[];
  readonly values: {
    readonly header: readonly string[];
    readonly body: readonly string[];
    readonly buttons: readonly { readonly index: number; readonly value: string }[];
  };
};

export interface TemplateTables {
  templates: {
    organization_id: string;
    id: string;
    inbox_id: string;
    name: string;
    language: string;
    category: TemplateContent["category"];
    status: "draft" | "pending" | "approved" | "rejected" | "paused" | "disabled";
    template_data: Json<TemplateContent["template_data"]>;
    variables: Json<TemplateContent["variables"]>;
    submitted: Json<TemplateContent> | null;
    review_status: "pending" | "approved" | "rejected" | "paused" | "disabled" | null;
    raw_status: string | null;
    rejection_reason: string | null;
    quality_rating: string | null;
    external_id: string | null;
    missing_at_authority: Generated<boolean>;
    submitting_since: string | null;
    edits_submitted_at: Json<readonly string[]>;
    revision: Generated<number>;
    created_at: string;
    updated_at: string;
  };
}
