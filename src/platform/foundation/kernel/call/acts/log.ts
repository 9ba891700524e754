/**
 * The record of this process.
 *
 * What a write did is recorded in its transaction. A refusal, and a read through MCP, has no transaction: its
 * row is written right after the call, with all rows that wait at that moment. Other reads are counted by
 * minute, and written when the minute is over.
 */
import type { Database } from "../../../../../database/database.ts";
import { recordOwner, runFor } from "../../../../../database/sharing/index.ts";
import type { Clock } from "../../../../../ports/clock.ts";
import type { Log } from "../../../../../ports/telemetry/log.ts";
import { type ActLog, type ActStore, agentOf, type CountedReads, type RecordedAct } from "./act.ts";
import { createCallRecord } from "./record-call.ts";

export interface ActLogOptions {
  /** Default: nothing is recorded. */
  readonly store: ActStore | undefined;
  readonly database: Pick<Database, "queries">;
  readonly now: Clock;
  readonly log: Log;
}

/** The record of a process with the functions that its start and its end call. */
export interface OwnActLog extends ActLog {
  /** From now on, counts are written when their minute is over. */
  start(): void;
  /** Writes what is left. */
  stop(): Promise<void>;
}

/** Rows of one statement. */
const maxRows = 500;

/** If the database can't be used, so many rows wait for it; further ones are lost. */
const maxWaiting = 10_000;

const everyMs = 10_000;
const minuteMs = 60_000;

export function createActLog({ store, database, now, log }: ActLogOptions): OwnActLog {
  const waiting: RecordedAct[] = [];
  const reads = new Map<string, CountedReads>();
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const report = (error: unknown) => log.error({ err: error }, "A part of the record could not be written");

  const writeActs = async (): Promise<void> => {
    while (waiting.length > 0) {
      const rows = waiting.splice(0, maxRows);
      await store?.insert(database.queries, rows).catch(report);
    }
  };

  /** Only one statement at a time: what arrives meanwhile shares the next one. */
  const startWriting = (): Promise<void> => {
    writing ??= runFor(recordOwner, writeActs).finally(() => {
      writing = undefined;
    });
    return writing;
  };

  const writeReads = async (isDue: (read: CountedReads) => boolean): Promise<void> => {
    const due = [...reads].filter(([, read]) => isDue(read));
    for (const [key] of due) {
      reads.delete(key);
    }
    if (due.length > 0) {
      const counts = due.map(([, read]) => read);
      await runFor(recordOwner, async () => store?.addReads(database.queries, counts)).catch(report);
    }
  };

  const settle = async (): Promise<void> => {
    await writeReads(() => true);
    while (writing || waiting.length > 0) {
      await startWriting();
    }
  };

  const acts: OwnActLog = {
    begin: (call, caller) => createCallRecord({ ...call, acts }, caller ? agentOf(caller) : null),

    writeWith(tx, rows) {
      if (store && rows.length > 0) {
        tx.sendWithCommit(() => store.insert(tx, rows));
      }
    },

    add(act) {
      if (store && waiting.length < maxWaiting) {
        waiting.push(act);
        startWriting().catch(report);
      }
    },

    countRead({ organization_id, type, id, name }, operation, at) {
      const minute = new Date(Math.floor(at.getTime() / minuteMs) * minuteMs).toISOString();
      const key = JSON.stringify([organization_id, id, operation, minute]);
      const count = (reads.get(key)?.count ?? 0) + 1;
      const agent = { organization_id, agent_type: type, agent_id: id, agent_name: name };
      if (store) {
        reads.set(key, { ...agent, operation, minute, count });
      }
    },

    settle,

    start() {
      const isOver = ({ minute }: CountedReads) => Date.parse(minute) + minuteMs <= now().getTime();
      timer ??= setInterval(() => void writeReads(isOver).catch(report), everyMs);
    },

    async stop() {
      clearInterval(timer);
      await settle();
    },
  };
  return acts;
}
