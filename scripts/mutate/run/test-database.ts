/**
 * A role of the PostgreSQL server for the tests of mutations. The databases that killed tests leave behind
 * belong to this role.
 */
import { randomBytes } from "node:crypto";
import pg from "pg";

export interface TestServer extends AsyncDisposable {
  /** The project of vitest.config.ts. */
  readonly project: "postgres" | "embedded";
  readonly env: Readonly<Record<string, string>>;
  /** Drops the databases that the last run left behind. */
  clean(): Promise<void>;
}

const none: TestServer = {
  project: "embedded",
  env: {},
  clean: async () => {},
  [Symbol.asyncDispose]: async () => {},
};

/**
 * Opens the server. If no server answers, the tests run on the embedded database.
 * @throws if the user in the URL may not create roles.
 */
export async function openTestServer(url: string): Promise<TestServer> {
  if (!(await answers(url))) {
    console.log(`No PostgreSQL at ${new URL(url).host}: the tests run on the embedded database.`);
    return none;
  }
  const own = new URL(url);
  own.username = `mutate_${randomBytes(6).toString("hex")}`;
  own.password = randomBytes(12).toString("hex");
  await query(url, `create role ${own.username} login createdb password '${own.password}'`);
  const clean = () => dropDatabasesOf(url, own.username);
  return {
    project: "postgres",
    env: { TEST_DATABASE_URL: own.href },
    clean,
    async [Symbol.asyncDispose]() {
      await clean();
      await query(url, `drop role ${own.username}`);
    },
  };
}

async function dropDatabasesOf(url: string, role: string): Promise<void> {
  const owned = `select datname from pg_database join pg_roles on pg_roles.oid = datdba where rolname = '${role}'`;
  for (const { datname } of await query(url, owned)) {
    await query(url, `drop database if exists "${datname}" with (force)`);
  }
}

async function answers(url: string): Promise<boolean> {
  return query(url, "select 1").then(
    () => true,
    () => false,
  );
}

async function query(url: string, statement: string): Promise<{ datname?: string }[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
