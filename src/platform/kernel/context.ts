/** What a handler is given: who asks, when, and the parts of the world it may use. */

import type { Operation, Scope } from "../../../tools/contract/index.ts";
import type { Event, EventName } from "../../../tools/events.ts";
import type { Database, Queries, Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import type { Jobs, NewJob } from "../../jobs/job.ts";
import type { Channel } from "../../ports/channel.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Storage } from "../../ports/storage.ts";
import type { Metrics } from "../../ports/telemetry.ts";
import type { Web } from "../../ports/web.ts";

export type Role = "owner" | "admin" | "supervisor" | "agent";

/** The world outside the business, as the composition root hands it over. */
export interface World {
  readonly database: Database;
  readonly jobs: Jobs;
  readonly now: Clock;
  readonly log: Log;
  /** Counts what happens, by names that are few. */
  readonly metrics: Metrics;
  /** The channel of an inbox, by the name that its row holds. */
  readonly channels: Readonly<Record<string, Channel>>;
  /** The addresses that customers give: nothing else reaches them. */
  readonly web: Web;
  readonly storage: Storage;
  /** Where this service and its CDN are reached from outside: the beginnings of links to its files. */
  readonly addresses: { service(): string; readonly cdn: string | undefined };
  /** Signs access tokens and links, and seals what nobody may read. */
  readonly secret: string;
  /** The one that it replaced: what was signed or sealed under it is still read. */
  readonly previousSecret: string | undefined;
  /** The names of the jobs that listen to each event. */
  readonly listeners: ReadonlyMap<EventName, readonly string[]>;
  /** Those who write of each event. */
  readonly recorders: readonly EventRecorder[];
  /** The tools that the house offers, by name, each with the operation that it calls. */
  readonly tools: ReadonlyMap<string, Operation>;
  /** Aborted when the house begins to stop: whoever waits in it answers. */
  readonly stopping: AbortSignal;
}

/** What is emitted: the event, and what is told one after the other. */
export interface Emission {
  readonly event: Event;
  readonly orderKey: string;
}

/** Writes of what was emitted in a transaction, before it commits, and says which jobs that promises. */
export type EventRecorder = (tx: Transaction, emissions: readonly Emission[]) => Promise<readonly NewJob[]>;

/** Who asks: the authority without which no tenant's data is read. */
export interface Caller {
  readonly organization_id: string;
  readonly credential: {
    readonly type: "api_key" | "access_token";
    readonly id: string;
    readonly name: string;
    readonly expires_at: string | null;
  };
  readonly scopes: ReadonlySet<Scope>;
  /** The person who is signed in; null for an API key. */
  readonly user: { id: string; email: string; name: string; role: Role } | null;
  /** The person for whom it acts: the one signed in, or the one who made the key. */
  readonly acts_for: string | null;
}

/** What every handler is given. */
export interface PublicContext {
  readonly world: World;
  /** The time of this call: one moment for everything that it writes. */
  readonly now: Date;
  /** The variant that the declaration gives the path of this call. */
  readonly variant: string | undefined;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
}

export interface ReadContext extends PublicContext {
  readonly caller: Caller;
  readonly organization: string;
  readonly db: Queries;
}

/** A write's reads go through its transaction too. */
export interface WriteContext extends ReadContext {
  readonly db: Transaction;
  readonly tx: Transaction;
}

/** A streamed call puts its file aside first, and then records it. */
export interface StreamedContext<Answer = unknown> extends ReadContext {
  /**
   * Records the effect and its answer in one transaction, once for the call's idempotency key: a repeated
   * call is given the first one's answer, and `effect` does not run. `facts` tell one file from another.
   */
  commit(facts: unknown, effect: (context: WriteContext) => Promise<Answer>): Promise<void>;
}

/** A delegated call runs other operations, each with its own rules. */
export interface DelegatedContext extends PublicContext {
  readonly caller: Caller;
  /** Offered tools by name, and the call of one. */
  readonly tools: {
    list(): { name: string; description: string; input_schema: Readonly<Record<string, unknown>> }[];
    call(name: string, given: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
  };
}

/** A new id at the time of the call. */
export function freshId(context: { readonly now: Date }, prefix: string): string {
  return newId(prefix, context.now);
}
