/** The tables of background jobs. */
import type { Generated } from "kysely";
import type { Json } from "./columns.ts";

interface Job {
  id: string;
  name: string;
  lane: string;
  key: string | null;
  organization_id: string | null;
  payload: Json<unknown>;
  /** The id of the record whose personal data the job holds. */
  subject: string | null;
  created_at: string;
}

export interface JobTables {
  jobs: Job & {
    run_at: string;
    attempts: Generated<number>;
    claims: Generated<number>;
    schedule: string | null;
    traceparent: string | null;
  };
  /** The dead-letter queue. */
  dead_jobs: Job & { attempts: number; error: string; died_at: string };
}
