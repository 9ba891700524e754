/** Sends the statements of a connection. */
import { hash } from "node:crypto";
import type pg from "pg";
import { createAnswerTimer } from "./answer-timer.ts";

/**
 * The limit of prepared statements per connection, because each takes memory of the engine. The service has a
 * few hundred.
 */
const maxNames = 1000;

/** What the connections of a pool have sent, apart from statements that set up a connection. */
export interface Counts {
  statements: number;
  /** How often a statement was sent while the connection had no other statement in progress. */
  waits: number;
}

/**
 * Sends and counts statements. Statements of the same tick are sent in one packet. Statements that are sent
 * while another statement is in progress share its wait. Without an answer in time, they fail.
 */
export function createSender(client: pg.PoolClient, counts: Counts, canReconnect: boolean) {
  const { stream } = client.connection;
  let isCorked = false;
  let underWay = 0;
  const answers = createAnswerTimer((error) => {
    // The connection to a server is closed, with all its statements. The embedded engine has only this
    // connection.
    if (canReconnect) {
      stream.destroy(error);
    }
  });
  return async (query: pg.QueryConfig): Promise<pg.QueryResult> => {
    if (!isCorked) {
      isCorked = true;
      stream.cork();
      process.nextTick(() => {
        isCorked = false;
        stream.uncork();
      });
    }
    counts.statements += 1;
    counts.waits += Number(underWay === 0);
    underWay += 1;
    answers.restart();
    try {
      return await answers.within(client.query(query));
    } finally {
      underWay -= 1;
      if (underWay === 0) {
        answers.stop();
      } else {
        answers.restart();
      }
    }
  };
}

/**
 * A statement under the name of its text, or without one. A later `generation` is part of the text, because a
 * pooler that keeps prepared statements finds them by their text, whatever their name.
 */
export function statement(
  text: string,
  values: readonly unknown[],
  { names, generation }: { readonly names: Set<string>; readonly generation: number },
): pg.QueryConfig {
  const query = {
    text: generation === 0 ? text : `${text} /* ${generation} */`,
    values: [...values],
  };
  if (values.length === 0) {
    return query;
  }
  const id = `q${hash("sha1", query.text).slice(0, 16)}`;
  if (names.size >= maxNames && !names.has(id)) {
    return query;
  }
  names.add(id);
  return { ...query, name: id };
}
