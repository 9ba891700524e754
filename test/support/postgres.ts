/** The PostgreSQL server of the tests, and statements on it. */
import pg from "pg";

/**
 * The address of a server where this test may create databases. Undefined on the embedded engine:
 * vitest.config.ts runs tests on PostgreSQL only if a server answers.
 */
export const serverUrl =
  process.env.TIDINGS_TEST_ENGINE === "postgres" ? process.env.TEST_DATABASE_URL : undefined;

/**
 * The address at which apps find the server's databases, if it is another one: a pooler, through which no
 * database can be created or dropped.
 */
export const poolerUrl = process.env.TEST_POOLER_URL || serverUrl;
/**
 * Whether a pooler decides in which session a statement runs, and which statements are prepared there. Then a
 * setting of new sessions is not seen at once, and a single statement has a transaction of its own.
 */
export const isPooled = poolerUrl !== serverUrl;

/** A connection of its own, and statements without values on it. */
export async function connectTo(url: string) {
  const client = new pg.Client({ connectionString: url });
  // Without a listener, a connection that is lost would end the process. Its queries are rejected too.
  client.on("error", () => undefined);
  await client.connect();
  return {
    // pg's rows are untyped.
    query: async (text: string): Promise<Record<string, unknown>[]> => (await client.query(text)).rows,
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** Runs one statement on the server's maintenance database. */
export async function runOnServer(url: string, statement: string): Promise<void> {
  await using client = await connectTo(url);
  await client.query(statement);
}

/** Returns the URL of another database on the same server. */
export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
