/**
 * What the house tells of its own work: figures that are scraped, and spans that make a trace.
 *
 * Every text here is one of few: the name of an operation, a tool, a job, a channel. Never an id, an
 * address, a number or a name of a person's: figures would have no end of series, and traces leave the house.
 */

/** Counts and times, in seconds. */
export interface Metrics {
  request(done: { operation: string; method: string; status: number; seconds: number }): void;
  toolCall(done: { tool: string; outcome: "done" | "failed" | "refused"; seconds: number }): void;
  /** One attempt; `waited` from when it was due until it was begun. */
  job(done: { name: string; outcome: "done" | "again" | "failed"; seconds: number; waited: number }): void;
  /** A message has come to this state. */
  message(state: "received" | "queued" | "sent" | "delivered" | "read" | "failed"): void;
  channelSend(done: {
    channel: string;
    outcome: "accepted" | "refused" | "busy" | "unknown";
    seconds: number;
  }): void;
  /** One attempt to tell a subscriber. */
  webhook(done: { outcome: "delivered" | "refused" | "unreachable"; seconds: number }): void;
}

export interface SpanOptions {
  readonly name: string;
  readonly kind: "server" | "client" | "producer" | "consumer" | "internal";
  /** The `traceparent` that it continues; null begins a trace. Left out: the span that is running. */
  readonly parent?: string | null | undefined;
  readonly attributes?: SpanAttributes;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A span whose end its beginner tells. */
export interface Span {
  /** Runs work in it: what begins there is its child. */
  within<Result>(work: () => Result): Result;
  /** `failure` is a code or the name of a kind of error; never a message, which may hold anything. */
  end(facts?: { readonly attributes?: SpanAttributes; readonly failure?: string | undefined }): void;
}

export interface Tracer {
  startSpan(facts: SpanOptions): Span;
  /** Runs work in a span of its own, which fails when the work does. */
  withSpan<Result>(facts: SpanOptions, work: () => Promise<Result>): Promise<Result>;
  /** The W3C header of the span that is running. */
  traceparent(): string | undefined;
}

/** What the house can be asked for its gauges. */
export interface Gauges {
  /** Jobs by group of lanes, and the dead by name. */
  readonly lanes: readonly {
    /** What stands before the first colon of a lane: the rest names an inbox, an organization or an event. */
    readonly group: string;
    readonly due: number;
    readonly later: number;
    /** How long the oldest that is due has waited. */
    readonly oldestSeconds: number;
  }[];
  readonly deadLetters: readonly { readonly name: string; readonly count: number }[];
}

export interface PoolUsage {
  readonly inUse: number;
  readonly waiting: number;
}

/** Where the figures that nobody tells are read. */
export interface GaugeSources {
  gauges(): Promise<Gauges>;
  pool(): PoolUsage;
}

export interface Telemetry {
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  /** The figures as Prometheus reads them; undefined while nobody may scrape. */
  readonly scrape: ((sources: GaugeSources) => () => Promise<string>) | undefined;
  /** Sends what is left, for as long as this at most. */
  close(graceMs: number): Promise<void>;
}
