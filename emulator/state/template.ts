/** A message template as the emulator stores it. */

export type TemplateStatus = "PENDING" | "APPROVED" | "REJECTED" | "PAUSED" | "DISABLED";
export type Quality = "GREEN" | "YELLOW" | "RED" | "UNKNOWN";
export type Category = "AUTHENTICATION" | "MARKETING" | "UTILITY";

export interface TemplateButton {
  readonly type: string;
  readonly text?: string;
  readonly url?: string;
  readonly phone_number?: string;
  readonly example?: unknown;
  readonly [name: string]: unknown;
}

export interface TemplateComponent {
  readonly type: string;
  readonly format?: string;
  readonly text?: string;
  readonly example?: Readonly<Record<string, unknown>>;
  readonly buttons?: readonly TemplateButton[];
  readonly [name: string]: unknown;
}

export interface Template {
  readonly kind: "template";
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly language: string;
  readonly parameter_format: "POSITIONAL" | "NAMED";
  category: Category;
  components: readonly TemplateComponent[];
  message_send_ttl_seconds: number | null;
  status: TemplateStatus;
  rejected_reason: string;
  quality: Quality;
  /** When it was edited while it was approved. */
  edits: number[];
  pauses: number;
  /** Changes with each decision: a review or the end of a pause that was scheduled before is void. */
  revision: number;
}
