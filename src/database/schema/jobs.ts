/** Columns of background jobs, of the rates of their lanes, and of the processes that run them. */

export interface JobColumns {
  jobs: {
    /** The lane of a bulk job begins with "~". */
    lane: string;
    /** The id of the record whose personal data the job holds. */
    subject: string;
    /** The process whose claim has not ended, if `claimed_number` is the present value of `claims`. */
    claimed_by: string;
  };
  /** The dead-letter queue. */
  dead_jobs: {
    /** The id of the record whose personal data the job holds. */
    subject: string;
  };
  paced_lanes: {
    /** When each of the last jobs started, the latest last. */
    started_at: string[];
  };
  /** Whose jobs wait: the suspended ones, as a trigger on them keeps it. */
  suspended_organizations: {
    organization_id: string;
  };
  processes: {
    /** By the clock of the database. */
    written_at: string;
    /** Points that each active credential used of its rate limit. */
    use: Readonly<Record<string, number>>;
  };
}
