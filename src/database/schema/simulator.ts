/** Columns of the simulated channel and the simulated payment processor. */
import type { TemplateContent } from "./templates.ts";

export interface SimulatorColumns {
  simulator_messages: {
    direction: "outbound" | "inbound";
    content: Record<string, unknown>;
  };
  simulator_templates: {
    /** Digits; later messages have larger numbers. */
    external_id: string;
    category: TemplateContent["category"];
    status: "PENDING" | "APPROVED" | "REJECTED" | "PAUSED" | "DISABLED";
    quality_rating: "GREEN" | "YELLOW" | "RED" | "UNKNOWN";
    template_data: TemplateContent["template_data"];
    variables: TemplateContent["variables"];
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
