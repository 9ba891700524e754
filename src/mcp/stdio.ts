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
import { parseJson } from "../../tools/contract/index.ts";
import type { McpCaller } from "./call.ts";
import { findFault, type MessageError, tooLong } from "./gate.ts";
import { longestLine, readLines } from "./lines.ts";
import type { Access } from "./scopes.ts";
import { createServerFactory, defaultNarrowing, type ServerParts } from "./server.ts";

export interface StdioOptions extends ServerParts {
  /** Learns what the client's key may do; undefined if that can't be learned. */
  learnAccess(): Promise<Access | undefined>;
  /** How long a list waits for that: a person who starts a program is waiting for it. */
  readonly listWaitMs?: number;
  /** How long after an attempt that failed a list may begin another. */
  readonly retryAfterMs?: number;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
}

export interface StdioConnection {
  /** Resolves when the other side has gone. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** The library closes the connection past this; what is no UTF-8 grows to three bytes when it is read. */
const largestRead = 3 * longestLine + 1;

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
  const factory = createServerFactory(options, () => caller);
  const connection = serveStdio(
    (context) => {
      // The first message is answered first: asking the service loads what asking takes.
      setImmediate(() => void caller.learn());
      return factory(context);
    },
    {
      transport: new StdioServerTransport(inlet, stdout, { maxBufferSize: largestRead }),
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

interface Learner extends McpCaller {
  /** Begins to learn what the key may do, if that has not begun or was in vain. */
  learn(): Promise<void>;
}

function createCaller(
  { learnAccess, listWaitMs = 1_500, retryAfterMs = 60_000, narrowing = defaultNarrowing }: StdioOptions,
  ending: Promise<void>,
): Learner {
  let access: Access | undefined;
  let learning: Promise<void> | undefined;
  const begin = async () => {
    access = await learnAccess().catch(() => undefined);
    if (!access) {
      setTimeout(() => {
        learning = undefined;
      }, retryAfterMs).unref();
    }
  };
  const learn = () => {
    learning ??= begin();
    return learning;
  };
  return {
    narrowing,
    scopes: () => access?.scopes,
    built: () => access?.built,
    learn,
    ready: () => Promise.race([learn(), ending, sleep(listWaitMs, undefined, { ref: false })]),
  };
}

/** Passes the input on until it ends, or until nobody reads the output any more. */
function forward(stdin: Readable, stdout: Writable, inlet: PassThrough) {
  const answer = (fault: MessageError) => stdout.write(`${JSON.stringify(fault)}\n`);
  const take = (line: string) => {
    const fault = line.trim() === "" ? undefined : findFault(parseJson(line));
    return fault ? answer(fault) : inlet.write(`${line}\n`);
  };
  readLines(stdin, take, () => answer(tooLong(longestLine)));
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
