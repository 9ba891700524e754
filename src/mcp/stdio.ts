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
import { maxLineBytes, readLines } from "./read-lines.ts";
import { createServerFactory, defaultToolFilter, type McpServerOptions } from "./server.ts";
import type { McpCaller } from "./tool-call/index.ts";
import type { KeyAccess } from "./tool-list/index.ts";
import { createLineTooLongError, type JsonRpcError, validateMessage } from "./validate-message.ts";

export interface StdioOptions extends McpServerOptions {
  /** Learns what the client's key may do; undefined if that can't be learned. */
  discoverAccess(): Promise<KeyAccess | undefined>;
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
const maxBufferBytes = 3 * maxLineBytes + 1;

/** What was asked just before the input ended (a script's pipe) is still answered within this, */
const drainMs = 120;
/** and a list that waits for the scopes goes out without them by then. */
const listCutoffMs = 60;

export function serveOverStdio(options: StdioOptions): StdioConnection {
  const { stdin = process.stdin, stdout = process.stdout, log } = options;
  if (stdout === process.stdout) {
    guardStdout();
  }
  const input = new PassThrough();
  const { ending, ended } = forwardInput(stdin, stdout, input);
  const caller = createCaller(options, ending);
  const factory = createServerFactory(options, () => caller);
  const connection = serveStdio(
    (context) => {
      // The first message is answered first: asking the service loads what asking takes.
      setImmediate(() => void caller.discover());
      return factory(context);
    },
    {
      transport: new StdioServerTransport(input, stdout, { maxBufferSize: maxBufferBytes }),
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

interface DiscoveringCaller extends McpCaller {
  /** Begins to discover what the key may do, if that has not begun or was in vain. */
  discover(): Promise<void>;
}

function createCaller(
  { discoverAccess, listWaitMs = 1_500, retryAfterMs = 60_000, toolFilter = defaultToolFilter }: StdioOptions,
  ending: Promise<void>,
): DiscoveringCaller {
  let access: KeyAccess | undefined;
  let discovery: Promise<void> | undefined;
  const begin = async () => {
    access = await discoverAccess().catch(() => undefined);
    if (!access) {
      setTimeout(() => {
        discovery = undefined;
      }, retryAfterMs).unref();
    }
  };
  const discover = () => {
    discovery ??= begin();
    return discovery;
  };
  return {
    filter: toolFilter,
    scopes: () => access?.scopes,
    availableTools: () => access?.availableTools,
    discover,
    waitForAccess: () => Promise.race([discover(), ending, sleep(listWaitMs, undefined, { ref: false })]),
  };
}

/** Passes the input on until it ends, or until nobody reads the output any more. */
function forwardInput(stdin: Readable, stdout: Writable, input: PassThrough) {
  const answer = (jsonRpcError: JsonRpcError) => stdout.write(`${JSON.stringify(jsonRpcError)}\n`);
  const take = (line: string) => {
    const jsonRpcError = line.trim() === "" ? undefined : validateMessage(parseJson(line));
    return jsonRpcError ? answer(jsonRpcError) : input.write(`${line}\n`);
  };
  readLines(stdin, take, () => answer(createLineTooLongError(maxLineBytes)));
  const isOver = stdin.readableEnded || stdin.destroyed;
  const inputOver = isOver ? Promise.resolve() : onceAny(stdin, ["end", "close", "error"]);
  const ending = inputOver.then(() => sleep(listCutoffMs));
  const ended = Promise.race([inputOver.then(() => sleep(drainMs)), onceAny(stdout, ["error", "close"])]);
  return {
    ending,
    ended: ended.then(() => {
      input.end();
    }),
  };
}

function onceAny(stream: Readable | Writable, events: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    for (const event of events) {
      stream.once(event, () => resolve());
    }
  });
}
