/**
 * Serves MCP on standard input and output.
 *
 * Only JSON-RPC may be written to stdout, and there is no network request before the first response. When the
 * input ends the connection is over: the process exits soon, even if calls are still running. No child
 * process is started.
 */
import { PassThrough, type Readable, type Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { McpRequestContext, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { parseJson } from "../../../tools/contract/index.ts";
import type { Client } from "../../client/index.ts";
import type { HostChannel } from "../host-channel/index.ts";
import { createServerFactory, defaultToolFilter, listCacheHints, type McpServerOptions } from "../server.ts";
import type { McpCaller } from "../tool-call/index.ts";
import type { KeyAccess } from "../tool-list/index.ts";
import { createLineTooLongError, type JsonRpcError, validateMessage } from "../validate-message.ts";
import { maxLineBytes, readLines } from "./read-lines.ts";
import { AnsweringTransport, createUnansweredRequests, type UnansweredRequests } from "./unanswered.ts";

export interface StdioOptions extends McpServerOptions {
  /** Calls the service that executes the tools. */
  readonly client: Client;
  /** What the client's key may do, if that is known at the start: then lists do not wait. */
  readonly knownAccess?: KeyAccess | undefined;
  /**
   * Finds out what the client's key may do; undefined if that is not possible. Default: `knownAccess` is
   * right.
   */
  readonly discoverAccess?: () => Promise<KeyAccess | undefined>;
  /** How long a list waits for `discoverAccess`; short, because a person is waiting. */
  readonly listWaitMs?: number;
  /** How long after a failed attempt the next one starts. */
  readonly retryAfterMs?: number;
  /** How long after a successful attempt a list starts another one; by default as long as a list is valid. */
  readonly refreshAfterMs?: number;
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

/** How long after the end of the input the answers to its requests (a script's pipe) are waited for. */
const drainMs = 5_000;
/** The same for calls, which may run much longer. */
const callDrainMs = 120;
/** By then, lists that wait for the scopes are sent without them. */
const listCutoffMs = 60;
/** With `knownAccess`, when `discoverAccess` runs if the client has requested no list by then. */
const latestDiscoveryMs = 1_000;

export function serveOverStdio(options: StdioOptions): StdioConnection {
  const { stdin = process.stdin, stdout = process.stdout, log, channel } = options;
  if (stdout === process.stdout) {
    guardStdout();
  }
  const input = new PassThrough();
  const unanswered = createUnansweredRequests();
  const { ending, ended } = forwardInput(stdin, stdout, input, unanswered);
  const servers: Server[] = [];
  const caller = createCaller(options, ending, () => {
    for (const server of servers) {
      server.sendToolListChanged().catch(() => undefined);
    }
  });
  const settings = { ...options, announcesChanges: true, isChannel: channel !== undefined };
  const factory = createServerFactory(settings, () => caller);
  const notifications = channel && startChannel(channel, ended);
  const connection = serveStdio(
    (context) => {
      const server = factory(context);
      servers.push(server);
      caller.start();
      notifications?.sendTo(server, context);
      return server;
    },
    {
      transport: new AnsweringTransport(unanswered, input, stdout, { maxBufferSize: maxBufferBytes }),
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
  /** Begins to find out what the key may do. Called when the first message has arrived. */
  start(): void;
}

/** @param onChange is called when it turns out that the key may do something else than known before. */
function createCaller(options: StdioOptions, ending: Promise<void>, onChange: () => void): DiscoveringCaller {
  const { client, knownAccess, toolFilter = defaultToolFilter } = options;
  const { discoverAccess = async () => knownAccess, listWaitMs = 1_500 } = options;
  const { retryAfterMs = 60_000, refreshAfterMs = listCacheHints.ttlMs } = options;
  let access = knownAccess;
  let discovery: Promise<void> | undefined;
  let isListedWithoutAccess = false;
  const tryDiscovery = async () => {
    const found = await discoverAccess().catch(() => undefined);
    const forget = () => {
      discovery = undefined;
    };
    if (!found) {
      const retry = () => {
        forget();
        void discover();
      };
      setTimeout(retry, retryAfterMs).unref();
      return;
    }
    setTimeout(forget, refreshAfterMs).unref();
    const isChanged = access ? !isSameAccess(access, found) : isListedWithoutAccess;
    access = found;
    if (isChanged) {
      onChange();
    }
  };
  const discover = () => {
    discovery ??= tryDiscovery();
    return discovery;
  };
  return {
    client,
    filter: toolFilter,
    scopes: () => access?.scopes,
    availableTools: () => access?.availableTools,
    start() {
      if (access) {
        setTimeout(discover, latestDiscoveryMs).unref();
      } else {
        // After the response to the first message: this call loads the HTTP client.
        setImmediate(discover);
      }
    },
    async waitForAccess() {
      if (access) {
        // After the list, because it may load much.
        setImmediate(discover);
        return;
      }
      await Promise.race([discover(), ending, sleep(listWaitMs, undefined, { ref: false })]);
      isListedWithoutAccess = access === undefined;
    },
  };
}

function isSameAccess(one: KeyAccess, other: KeyAccess): boolean {
  return isSameSet(one.scopes, other.scopes) && isSameSet(one.availableTools, other.availableTools);
}

/** Two sets without an order; both may be missing. */
function isSameSet(one: ReadonlySet<string> | undefined, other: ReadonlySet<string> | undefined): boolean {
  return one?.size === other?.size && [...(one ?? [])].every((member) => other?.has(member));
}

/** Forwards the input until it ends or the output is closed. */
function forwardInput(stdin: Readable, stdout: Writable, input: PassThrough, unanswered: UnansweredRequests) {
  const answer = (jsonRpcError: JsonRpcError) => stdout.write(`${JSON.stringify(jsonRpcError)}\n`);
  const onMessage = (message: unknown, line: string) => {
    const jsonRpcError = validateMessage(message);
    if (jsonRpcError) {
      answer(jsonRpcError);
    } else if (Array.isArray(message)) {
      // A batch, which the SDK does not read from stdin.
      for (const item of message) {
        // A batch in a batch is no message.
        onMessage(Array.isArray(item) ? null : item, JSON.stringify(item));
      }
    } else {
      unanswered.add(message);
      input.write(`${line}\n`);
    }
  };
  const onLine = (line: string) => {
    if (line.trim() !== "") {
      onMessage(parseJson(line), line);
    }
  };
  readLines(stdin, onLine, () => answer(createLineTooLongError(maxLineBytes)));
  const isOver = stdin.readableEnded || stdin.destroyed;
  const inputOver = isOver ? Promise.resolve() : onceAny(stdin, ["end", "close", "error"]);
  const ending = inputOver.then(() => sleep(listCutoffMs));
  const drained = inputOver.then(() =>
    Promise.all([sleep(callDrainMs), Promise.race([unanswered.settled(), sleep(drainMs)])]),
  );
  const ended = Promise.race([drained, onceAny(stdout, ["error", "close"])]);
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
