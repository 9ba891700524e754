/** A connection of the pool, in the form that Kysely uses. */
import type { PostgresPoolClient } from "kysely";
import type pg from "pg";
import type { Log } from "../../ports/telemetry/log.ts";
import { DamageError, isDamage, NoAnswerError, sqlState, timeLimits } from "../outage/index.ts";
import { together } from "../transaction.ts";
import { recordResultFields } from "./result-fields.ts";
import { type Counts, createSender, statement } from "./sender.ts";
import { isUnknownName, reportSessionUse, type SessionUse } from "./session-use.ts";

/**
 * A migration has changed the columns of a prepared statement. The other connections have such statements
 * too.
 */
const stale = "0A000";
/** The server has become read-only: it is a standby now, or a former primary. */
const readOnly = "25006";
/**
 * The function of PostgreSQL that waits until a standby has a commit. Unlike the message, its name does not
 * depend on the server's language.
 */
const waitForStandby = "SyncRepWaitForLSN";

/**
 * PostgreSQL replaces a named statement's plan by a generic one after five executions and keeps it until the
 * next ANALYZE. A generic plan made while a table was empty reads the whole table once it is full, so every
 * execution is planned for its own values and the table's present size.
 */
const ownSettings = { plan_cache_mode: "force_custom_plan", client_min_messages: "warning" };

const transactionEnds: ReadonlySet<string> = new Set(["commit", "rollback"]);
const rolledBack = { command: "ROLLBACK", rowCount: 0, rows: [] };

/** What the connections of a pool share. */
export interface PoolState {
  /** Whether the engine can cancel a statement at a time limit. */
  readonly canCancel: boolean;
  readonly sessions: SessionUse;
  readonly counts: Counts;
  readonly log: Log;
  /** Aborted at the first damage, with a `DamageError`. */
  readonly damage: AbortController;
  /** Once it is raised, every statement is prepared again. */
  generation: number;
  /** Once it is raised, every connection of before is closed. */
  epoch: number;
}

export interface Connection {
  readonly client: PostgresPoolClient;
  /** The queue's place that the connection holds while it is in use. */
  readonly place: { release(): void };
  /** Whether the connection has to be closed, because it was made before the pool was emptied. */
  isOutdated(): boolean;
}

/** Makes the settings of a new session, unless they would change the session of others. */
export async function prepareSession(client: pg.ClientBase, { isShared }: SessionUse): Promise<void> {
  if (!isShared) {
    await client.query(setAll("set", ownSettings));
  }
}

const setAll = (command: "set" | "set local", settings: Readonly<Record<string, string | number>>) =>
  Object.entries(settings)
    .map(([name, value]) => `${command} ${name} = ${value}`)
    .join("; ");

/** Why the signal of the damage is aborted. */
export function damageOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new DamageError(reason);
}

export function wrap(client: pg.PoolClient, state: PoolState): Connection {
  const { canCancel, sessions } = state;
  const send = createSender(client, state.counts, canCancel);
  const names = new Set<string>();
  const place = { release() {} };
  const { epoch } = state;
  const isOutdated = () => epoch !== state.epoch;
  let isInvalid = false;
  let isInTransaction = false;
  /** Whether single statements of the session can only read. */
  let isReadOnly = false;
  /** The limits of the session. Undefined at first, and if a rollback may have undone their last change. */
  let sessionLimits: ReturnType<typeof timeLimits> | undefined;
  /**
   * Whether the embedded engine has not answered: further statements would wait behind the statement that
   * hangs.
   */
  let isStuck = false;
  /** Whether the server stopped to wait for a standby: it answers as if the standby had the commit. */
  let isUnconfirmed = false;
  client.on("notice", ({ routine }) => {
    isUnconfirmed ||= routine === waitForStandby;
  });

  /**
   * Sends settings in the packet of the statement that follows or precedes them. If they fail, the
   * transaction has failed.
   */
  const set = (text: string) => void client.query(text).catch(() => undefined);

  const limits = () => {
    const { statementMs, idleMs } = timeLimits();
    return { statement_timeout: statementMs, idle_in_transaction_session_timeout: idleMs };
  };

  const setSession = () => {
    const wanted = timeLimits();
    if (canCancel && sessionLimits !== wanted) {
      sessionLimits = wanted;
      set(setAll("set", limits()));
    }
  };

  const isDamaged = () => state.damage.signal.aborted;
  const beginText = () => (isDamaged() ? "begin read only" : "begin");

  const forbidWrites = () => {
    if (isDamaged() && !isReadOnly) {
      isReadOnly = true;
      set("set default_transaction_read_only = on");
    }
  };

  const begin = () => {
    const begun = send({ text: beginText() });
    set(setAll("set local", { ...limits(), ...ownSettings }));
    return begun;
  };

  /** In a shared session settings last for a transaction, so a single statement has one of its own. */
  const sendAlone = async (query: pg.QueryConfig) => {
    const [, result] = await together(begin(), send(query), send({ text: "commit" }));
    return result;
  };

  const sendOnce = (text: string, values: readonly unknown[], isAlone: boolean) => {
    const query = sessions.namesStatements
      ? statement(text, values, { names, generation: state.generation })
      : { text, values: [...values] };
    if (!sessions.isShared) {
      setSession();
      if (isAlone) {
        forbidWrites();
      }
      return send(text === "begin" ? { text: beginText() } : query);
    }
    if (isAlone) {
      return sendAlone(query);
    }
    return text === "begin" ? begin() : send(query);
  };

  /** Whether a statement that failed can be sent in another way from now on. */
  const renew = (error: unknown, generation: number): boolean => {
    if (sqlState(error) === stale) {
      state.generation = Math.max(state.generation, generation + 1);
      return true;
    }
    if (isUnknownName(error) && sessions.namesStatements) {
      Object.assign(sessions, { isShared: true, namesStatements: false });
      reportSessionUse(sessions, state.log);
    }
    return isUnknownName(error);
  };

  const run = async (text: string, values: readonly unknown[]) => {
    const isAlone = !isInTransaction && text !== "begin" && !transactionEnds.has(text);
    isInTransaction = text === "begin" || (isInTransaction && !transactionEnds.has(text));
    // A server that waits for a standby must not stop at the limit, because the commit would then be visible
    // although it may be lost with the server.
    if (text === "commit" && canCancel) {
      set("set local statement_timeout = 0");
    }
    const { generation } = state;
    try {
      return await sendOnce(text, values, isAlone);
    } catch (error) {
      if (!renew(error, generation) || !isAlone) {
        throw error;
      }
      return sendOnce(text, values, isAlone);
    }
  };

  const connection = {
    async query(text: string, values: readonly unknown[]): Promise<unknown> {
      if (text === "rollback") {
        sessionLimits = undefined;
      }
      if (text === "rollback" && isStuck) {
        isStuck = false;
        run(text, values).catch(() => undefined);
        return rolledBack;
      }
      try {
        const result = await run(text, values);
        recordResultFields(result);
        if (isUnconfirmed) {
          throw new NoAnswerError("No standby has confirmed the commit.");
        }
        // PostgreSQL answers a COMMIT after a caught failure with ROLLBACK, and without an error.
        if (text === "commit" && result.command === "ROLLBACK") {
          throw new Error("The transaction was rolled back: a statement in it had failed.");
        }
        return result;
      } catch (error) {
        if (error instanceof NoAnswerError) {
          isInvalid ||= canCancel;
          isStuck = !canCancel;
        }
        if (isDamage(error)) {
          state.damage.abort(new DamageError(error));
          throw new DamageError(error);
        }
        if (sqlState(error) === readOnly && isDamaged()) {
          throw damageOf(state.damage.signal);
        }
        if (sqlState(error) === readOnly) {
          state.epoch = Math.max(state.epoch, epoch + 1);
        }
        // The connection is lost, and so is the transaction: the first failure is reported and not this one.
        if (text === "rollback" && sqlState(error) === undefined) {
          return rolledBack;
        }
        throw error;
      }
    },
    release() {
      client.release(isInvalid || isOutdated());
      place.release();
    },
  };
  // Has no cursors: only streamed queries use cursors, and there are none.
  return {
    client: connection as PostgresPoolClient,
    place,
    isOutdated,
  };
}
