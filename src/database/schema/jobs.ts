/** Columns of background jobs, of the rates of their lanes, and of the processes that run them. */

export interface JobColumns {
  jobs: {
    /** The lane of a bulk job begins with "~". */
    lane: string;
    /** The id of the record whose personal data the job holds. */
    subject: string;
    /** The process whose claim has not ended, if `claimed_number` equals `claims`. */
    claimed_by: string;
  };
  /** The dead-letter queue. */
  dead_jobs: {
    /** The id of the record whose personal data the job holds. */
    subject: string;
  };
  paced_lanes: {
    /** When each of the last jobs started, in this order. */
    started_at: string[];
  };
  /** The suspended organizations, whose jobs wait. A trigger maintains this table. */
  suspended_organizations: {
    organization_id: string;
  };
  processes: {
    /** When the row was written, by the clock of the database. */
    written_at: string;
    /** Points of its rate limit that each active credential has used. */
    use: Readonly<Record<string, number>>;
  };
}
