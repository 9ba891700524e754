/** The tables of cohorts. */
import type { Generated } from "kysely";
import type { Json } from "./columns.ts";

export interface CohortTables {
  cohorts: {
    organization_id: string;
    id: string;
    name: string;
    description: string | null;
    type: "query" | "csv";
    csv_url: string | null;
    query: Json<Record<string, unknown>>;
    contact_count: Generated<number>;
    status: "building" | "ready" | "failed";
    upload_id: string | null;
    position: Generated<number>;
    rejected: Generated<number>;
    errors: Json<readonly { line: number; reason: string }[]>;
    failure: string | null;
    created_at: string;
    updated_at: string;
  };
  cohort_members: {
    organization_id: string;
    cohort_id: string;
    contact_id: string;
  };
}
