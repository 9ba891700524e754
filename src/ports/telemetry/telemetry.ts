/**
 * The port for telemetry: metrics to be scraped, and spans of traces.
 *
 * Every text has few possible values: the name of an operation, a tool, a job or a channel. Never an id, an
 * address, a phone number or a person's name: each value is a new time series, and traces leave the service.
 */

/** Counters and histograms; times in seconds. */
export interface Metrics {
  request(result: { operation: string; method: string; status: number; seconds: number }): void;
  toolCall(result: { tool: string; outcome: "done" | "failed" | "refused"; seconds: number }): void;
  /** One attempt; `waited` is the time from when it was due until it started. */
  job(result: { name: string; outcome: "done" | "again" | "failed"; seconds: number; waited: number }): void;
  /** Counts a message that entered this state. */
  message(state: "received" | "queued" | "sent" | "delivered" | "read" | "failed"): void;
  channelSend(result: {
    channel: string;
    outcome: "accepted" | "refused" | "busy" | "stopped" | "unknown";
    seconds: number;
  }): void;
  /** One attempt to deliver to a webhook; `isLast` if no other follows by itself. */
  webhook(result: {
    outcome: "delivered" | "refused" | "unreachable";
    seconds: number;
    isLast: boolean;
  }): void;
}

export interface SpanOptions {
  readonly name: string;
  readonly kind: "server" | "client" | "producer" | "consumer" | "internal";
  /** The `traceparent` that it continues; null starts a new trace. Default: the current span. */
  readonly parent?: string | null | undefined;
  readonly attributes?: SpanAttributes;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A span that its creator must end. */
export interface Span {
  /** Runs `work` with this span as the current one: spans started there are its children. */
  within<Result>(work: () => Result): Result;
  /**
   * `failure` is an error code or the name of an error class; never a message, which may
   * contain personal data.
   */
  end(result?: { readonly attributes?: SpanAttributes; readonly failure?: string | undefined }): void;
}

export interface Tracer {
  startSpan(options: SpanOptions): Span;
  /** Runs `work` in a new span, which fails when `work` does. */
  withSpan<Result>(options: SpanOptions, work: () => Promise<Result>): Promise<Result>;
  /** The W3C header of the current span. */
  traceparent(): string | undefined;
}

/** The lengths of the job queues, read for each scrape. */
export interface Gauges {
  readonly lanes: readonly {
    /**
     * The part of the lane's name before the first colon; the rest names an inbox, an
     * organization or an event.
     */
    readonly group: string;
    /** Whether these are the bulk jobs of the lanes, which wait behind the others. */
    readonly isBulk: boolean;
    readonly due: number;
    readonly later: number;
    /** How long the oldest due job has waited. */
    readonly oldestSeconds: number;
  }[];
  /** Jobs in the dead-letter queue, by job name. */
  readonly deadLetters: readonly { readonly name: string; readonly count: number }[];
}

export interface PoolUsage {
  readonly inUse: number;
  readonly waiting: number;
  /** Statements sent since the start, including the statements that begin and end transactions. */
  readonly statements: number;
  /** Round trips since the start: statements that are sent before the first is answered are one wait. */
  readonly waits: number;
}

/** The metrics that are read at each scrape instead of being reported. */
export interface GaugeSources {
  gauges(): Promise<Gauges>;
  pool(): PoolUsage;
  /** How far the machine's clock is ahead of the database's; undefined if the machine's is used. */
  machineAheadMs(): number | undefined;
}

export interface Telemetry {
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  /** The metrics in Prometheus' text format; undefined when scraping is not enabled. */
  readonly scrape: ((sources: GaugeSources) => () => Promise<string>) | undefined;
  /** Sends buffered data, for at most 2 s. */
  close(): Promise<void>;
}
