/**
 * Serves MCP on standard input and output.
 *
 * Nothing but JSON-RPC may reach stdout, nothing is asked of the network before the protocol is answered,
 * and when the input ends the connection is over: whoever started it leaves at once then, whatever is
 * still running. No process is started.
 */
import { PassThrough, type Readable, type Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { auth } from "../../tools/auth.ts";
import { readScope, type Scope } from "../../tools/scopes.ts";
import type { Client } from "../client.ts";
import type { Log } from "../ports/log.ts";
import type { McpCaller } from "./call.ts";
import { createServerFactory, type ServerParts } from "./server.ts";
import { whoami } from "./tools.ts";

export interface StdioOptions extends ServerParts {
  /** What the client's key may do; undefined if that can't be learned. */
  readonly scopes: Promise<ReadonlySet<Scope> | undefined>;
  /** How long a list waits for the scopes: a person who starts a program is waiting for it. */
  readonly listWaitMs?: number;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
}

export interface StdioConnection {
  /** Resolves when the other side has gone. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** After this the log tells that nothing could be learned. */
const learnMs = 10_000;

/** What was asked just before the input ended (a script's pipe) is still answered within this, */
const graceMs = 120;
/** and a list that waits for the scopes goes out without them by then. */
const hurryMs = 60;

export function serveOverStdio(options: StdioOptions): StdioConnection {
  const { stdin = process.stdin, stdout = process.stdout, log } = options;
  if (stdout === process.stdout) {
    guardStdout();
  }
  const inlet = new PassThrough();
  const { ending, ended } = forward(stdin, stdout, inlet);
  const caller = createCaller(options, ending);
  const connection = serveStdio(
    createServerFactory(options, () => caller),
    {
      transport: new StdioServerTransport(inlet, stdout),
      onerror: (error) => log.warn({ err: error }, "a message on stdin could not be handled"),
    },
  );
  return { ended, close: () => connection.close() };
}

/** Libraries print; on stdout that would break the protocol. */
export function guardStdout(): void {
  for (const method of ["log", "info", "debug", "dir", "table"] as const) {
    console[method] = console.error;
  }
}

/**
 * Learns what the client's key may do. Undefined when the service can't tell: it may be another's, or
 * not yet there.
 */
export async function learnScopes(client: Client, log: Log): Promise<ReadonlySet<Scope> | undefined> {
  try {
    // The client needs no more of an operation than this; the declaration would be slow to load.
    const { data } = await client.call(whoami as typeof auth.whoami, {}, { timeoutMs: learnMs });
    return new Set(data.scopes.flatMap((scope) => readScope(scope) ?? []));
  } catch (error) {
    log.warn(
      { err: error },
      "the key's scopes can't be learned: every tool is listed, and each call decides",
    );
    return undefined;
  }
}

function createCaller(
  { scopes: learned, listWaitMs = 1_500 }: StdioOptions,
  ending: Promise<void>,
): McpCaller {
  let scopes: ReadonlySet<Scope> | undefined;
  const known = learned.then(
    (value) => {
      scopes = value;
    },
    () => undefined,
  );
  return {
    scopes: () => scopes,
    ready: () => Promise.race([known, ending, sleep(listWaitMs, undefined, { ref: false })]),
  };
}

/** Passes the input on until it ends, or until nobody reads the output any more. */
function forward(stdin: Readable, stdout: Writable, inlet: PassThrough) {
  stdin.pipe(inlet, { end: false });
  const isOver = stdin.readableEnded || stdin.destroyed;
  const inputOver = isOver ? Promise.resolve() : anyOf(stdin, ["end", "close", "error"]);
  const ending = inputOver.then(() => sleep(hurryMs));
  const ended = Promise.race([inputOver.then(() => sleep(graceMs)), anyOf(stdout, ["error", "close"])]);
  return {
    ending,
    ended: ended.then(() => {
      inlet.end();
    }),
  };
}

function anyOf(stream: Readable | Writable, events: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    for (const event of events) {
      stream.once(event, () => resolve());
    }
  });
}
