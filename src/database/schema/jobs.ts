/** The tables of background jobs, of the rates of their lanes, and of the processes that run them. */
import type { Generated } from "kysely";
import type { Json } from "./columns.ts";

interface Job {
  id: string;
  name: string;
  /** That of a bulk job begins with "~". */
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
    /** The process whose claim has not ended, if `claimed_number` is the present value of `claims`. */
    claimed_by: string | null;
    claimed_number: number | null;
  };
  /** The dead-letter queue. */
  dead_jobs: Job & { attempts: number; error: string; died_at: string };
  paced_lanes: {
    lane: string;
    rate_per_second: number;
    /** When each of the last jobs started, the latest last. */
    started_at: Generated<string[]>;
  };
  /** Whose jobs wait: the suspended ones, as a trigger on them keeps it. */
  suspended_organizations: { organization_id: string };
  processes: {
    id: string;
    started_at: string;
    heartbeat_at: string;
    /** By the clock of the database. */
    written_at: Generated<string>;
    /** Points that each active credential used of its rate limit. */
    use: Json<Readonly<Record<string, number>>>;
  };
}
