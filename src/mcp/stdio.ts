/**
 * Serves MCP on standard input and output.
 *
 * Only JSON-RPC may be written to stdout, and there is no network request before the first response. When the
 * input ends the connection is over: the process exits at once, even if calls are still running. No child
 * process is started.
 */
import { PassThrough, type Readable, type Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { McpRequestContext, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { parseJson } from "../../tools/contract/index.ts";
import type { Client } from "../client/index.ts";
import type { HostChannel } from "./host-channel/index.ts";
import { maxLineBytes, readLines } from "./read-lines.ts";
import { createServerFactory, defaultToolFilter, type McpServerOptions } from "./server.ts";
import type { McpCaller } from "./tool-call/index.ts";
import type { KeyAccess } from "./tool-list/index.ts";
import { createLineTooLongError, type JsonRpcError, validateMessage } from "./validate-message.ts";

export interface StdioOptions extends McpServerOptions {
  /** Calls the service that executes the tools. */
  readonly client: Client;
  /** Finds out what the client's key may do; undefined if that is not possible. */
  discoverAccess(): Promise<KeyAccess | undefined>;
  /** How long a list waits for `discoverAccess`; short, because a person is waiting. */
  readonly listWaitMs?: number;
  /** How long after a failed attempt a list may start another one. */
  readonly retryAfterMs?: number;
  /** Sends notifications of messages to the client, from when it is connected. */
  readonly channel?: HostChannel | undefined;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
}

export interface StdioConnection {
  /** Resolves when the client has disconnected. @throws the error of the channel. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** The SDK closes the connection above this. Each invalid byte of UTF-8 becomes three bytes when decoded. */
const maxBufferBytes = 3 * maxLineBytes + 1;

/** Requests that arrive just before the input ends (a script's pipe) are still answered within this time. */
const drainMs = 120;
/** By then, lists that wait for the scopes are sent without them. */
const listCutoffMs = 60;

export function serveOverStdio(options: StdioOptions): StdioConnection {
  const { stdin = process.stdin, stdout = process.stdout, log, channel } = options;
  if (stdout === process.stdout) {
    guardStdout();
  }
  const input = new PassThrough();
  const { ending, ended } = forwardInput(stdin, stdout, input);
  const caller = createCaller(options, ending);
  const factory = createServerFactory({ ...options, isChannel: channel !== undefined }, () => caller);
  const notifications = channel && startChannel(channel, ended);
  const connection = serveStdio(
    (context) => {
      // After the response to the first message: this call loads the HTTP client.
      setImmediate(() => void caller.discover());
      const server = factory(context);
      notifications?.sendTo(server, context);
      return server;
    },
    {
      transport: new StdioServerTransport(input, stdout, { maxBufferSize: maxBufferBytes }),
      onerror: (error) => log.warn({ err: error }, "a message on stdin could not be handled"),
    },
  );
  return {
    ended: notifications ? Promise.race([ended, notifications.failed]) : ended,
    close: () => connection.close(),
  };
}

interface ChannelConnection {
  /** Starts the channel once the client of this server is ready. */
  sendTo(server: Server, context: McpRequestContext): void;
  /** Rejects with the error of the channel; never resolves. */
  readonly failed: Promise<never>;
}

function startChannel(channel: HostChannel, ended: Promise<void>): ChannelConnection {
  const stopping = new AbortController();
  void ended.then(() => stopping.abort());
  let target: Server | undefined;
  let reject: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, rejectFailed) => {
    reject = rejectFailed;
  });
  const start = (server: Server) => {
    const isFirst = target === undefined;
    target = server;
    if (isFirst) {
      const run = channel.run(async (notification) => target?.notification(notification), stopping.signal);
      run.catch((error: unknown) => {
        if (!stopping.signal.aborted) {
          reject(error);
        }
      });
    }
  };
  return {
    sendTo(server, { era }) {
      if (era === "legacy") {
        server.oninitialized = () => start(server);
      } else {
        // This revision has no handshake: the client is ready after the answer to its first request.
        setImmediate(() => start(server));
      }
    },
    failed,
  };
}

/** Libraries may print, which would break the protocol on stdout. */
export function guardStdout(): void {
  for (const method of ["log", "info", "debug", "dir", "table"] as const) {
    console[method] = console.error;
  }
}

interface DiscoveringCaller extends McpCaller {
  /** Starts `discoverAccess`, unless it is running or was successful. */
  discover(): Promise<void>;
}

function createCaller(options: StdioOptions, ending: Promise<void>): DiscoveringCaller {
  const { client, discoverAccess, toolFilter = defaultToolFilter } = options;
  const { listWaitMs = 1_500, retryAfterMs = 60_000 } = options;
  let access: KeyAccess | undefined;
  let discovery: Promise<void> | undefined;
  const start = async () => {
    access = await discoverAccess().catch(() => undefined);
    if (!access) {
      setTimeout(() => {
        discovery = undefined;
      }, retryAfterMs).unref();
    }
  };
  const discover = () => {
    discovery ??= start();
    return discovery;
  };
  return {
    client,
    filter: toolFilter,
    scopes: () => access?.scopes,
    availableTools: () => access?.availableTools,
    discover,
    waitForAccess: () => Promise.race([discover(), ending, sleep(listWaitMs, undefined, { ref: false })]),
  };
}

/** Forwards the input until it ends or the output is closed. */
function forwardInput(stdin: Readable, stdout: Writable, input: PassThrough) {
  const answer = (jsonRpcError: JsonRpcError) => stdout.write(`${JSON.stringify(jsonRpcError)}\n`);
  const onLine = (line: string) => {
    const jsonRpcError = line.trim() === "" ? undefined : validateMessage(parseJson(line));
    return jsonRpcError ? answer(jsonRpcError) : input.write(`${line}\n`);
  };
  readLines(stdin, onLine, () => answer(createLineTooLongError(maxLineBytes)));
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
