/** The tables of the simulated channel. */
import type { Json } from "./columns.ts";

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
  simulator_faults: { organization_id: string; faults: Json<Record<string, unknown>> };
}
