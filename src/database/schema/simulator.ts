/** Columns of the simulated channel and the simulated payment processor. */
import type { StoredTemplateContent } from "./templates.ts";

export interface SimulatorColumns {
  simulator_messages: {
    direction: "outbound" | "inbound";
    content: Record<string, unknown>;
  };
  simulator_templates: {
    /** Digits; later messages have larger numbers. */
    external_id: string;
    category: StoredTemplateContent["category"];
    status: "PENDING" | "APPROVED" | "REJECTED" | "PAUSED" | "DISABLED";
    quality_rating: "GREEN" | "YELLOW" | "RED" | "UNKNOWN";
    template_data: StoredTemplateContent["template_data"];
    variables: StoredTemplateContent["variables"];
  };
  simulator_reviews: {
    review: Record<string, unknown>;
  };
  simulator_payments: {
    status: "failed" | "authorized" | "captured" | "refunded";
  };
  simulator_faults: {
    faults: Record<string, unknown>;
  };
}
