/**
 * The servers of a connection string with several hosts, as libpq writes it:
 * `postgres://user@first,second:5433/name?target_session_attrs=read-write`. node-postgres connects to one
 * host and ignores `target_session_attrs`.
 */
import pg from "pg";
import { ReadOnlyError } from "../outage/index.ts";

/** The prefix with the credential, the hosts, and the rest. */
const parts = /^(postgres(?:ql)?:\/\/(?:[^/?@]*@)?)([^/?]*)(.*)$/;

/** The values of `target_session_attrs` with which the service can write. */
const writable = new Set(["read-write", "primary"]);

export interface Servers {
  /** The connection string of the server that is used now. */
  current(): string;
  /** How many there are. */
  readonly count: number;
  /** Goes on to the next server, unless another connection has done so. */
  reject(url: string): void;
  /**
   * Checks a new connection.
   * @throws Error if its server accepts no writes, and only servers that do are wanted: with several hosts
   *   unless `target_session_attrs` is `any`, with one host if it is `read-write` or `primary`.
   */
  check(client: pg.ClientBase): Promise<void>;
}

/** @throws Error if `target_session_attrs` selects a server to which nothing can be written. */
export function readServers(url: string): Servers {
  const [, before = "", hosts = "", after = ""] = parts.exec(url) ?? [];
  const urls = hosts.includes(",") ? hosts.split(",").map((host) => before + host + after) : [url];
  const wanted =
    new URLSearchParams(after.split("?")[1]).get("target_session_attrs") ??
    (urls.length > 1 ? "read-write" : "any");
  if (wanted !== "any" && !writable.has(wanted)) {
    throw new Error(
      `The service writes to the database: set target_session_attrs=read-write in place of ${wanted}.`,
    );
  }
  let current = 0;
  return {
    current: () => urls[current] ?? url,
    count: urls.length,
    reject(rejected) {
      if (rejected === urls[current]) {
        current = (current + 1) % urls.length;
      }
    },
    async check(client) {
      if (wanted === "any") {
        return;
      }
      const { rows } = await client.query(
        "select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as is_read_only",
      );
      if (rows[0]?.is_read_only) {
        throw new ReadOnlyError("The server is a standby, or it is read-only.");
      }
    },
  };
}

/** The class of a pool's clients, which connect to the server that is used when they are created. */
export function createClientClass(servers: Servers) {
  return class extends pg.Client {
    constructor(settings: pg.ClientConfig = {}) {
      super({ ...settings, connectionString: servers.current() });
    }
  };
}
