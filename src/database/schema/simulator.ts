/** The tables of the simulated channel and the simulated payment processor. */
import type { Generated } from "kysely";
import type { Json } from "./columns.ts";
import type { TemplateContent } from "./templates.ts";

export interface SimulatorTables {
  simulator_messages: {
    organization_id: string;
    id: string;
    token: string;
    phone_number: string;
    direction: "outbound" | "inbound";
    content: Json<Record<string, unknown>>;
    status: string;
    created_at: string;
  };
  simulator_templates: {
    organization_id: string;
    /** Digits; later ones are higher. */
    external_id: Generated<string>;
    phone_number: string;
    name: string;
    language: string;
    category: TemplateContent["category"];
    status: "PENDING" | "APPROVED" | "REJECTED" | "PAUSED" | "DISABLED";
    rejection_reason: string | null;
    quality_rating: "GREEN" | "YELLOW" | "RED" | "UNKNOWN";
    template_data: Json<TemplateContent["template_data"]>;
    variables: Json<TemplateContent["variables"]>;
    pauses: Generated<number>;
    revision: Generated<number>;
    created_at: string;
  };
  simulator_reviews: { organization_id: string; review: Json<Record<string, unknown>> };
  simulator_payment_orders: {
    organization_id: string;
    id: string;
    receipt: string;
    amount: number;
    currency: string;
    created_at: string;
  };
  simulator_payments: {
    organization_id: string;
    id: string;
    order_id: string;
    status: "failed" | "authorized" | "captured" | "refunded";
    amount_refunded: Generated<number>;
    created_at: string;
  };
  simulator_faults: { organization_id: string; faults: Json<Record<string, unknown>> };
}
