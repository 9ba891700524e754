/**
 * Sends requests with undici, each within a deadline.
 *
 * Redirects are not followed, so that credentials are sent only to the named host. Bodies are not
 * decompressed.
 */
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { Deadline } from "../../time/deadline.ts";

export interface ClientRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | Readable | undefined;
  /** Opens the connections of the request. If undefined, the connections that the adapters share are used. */
  readonly open?: () => Promise<Dispatcher>;
  /**
   * Called right before the request is written to its connection. Until then, and after an error if it was
   * not called, nothing of the request has left.
   */
  readonly onWrite?: (() => void) | undefined;
}

/** An answer whose headers have arrived. */
export type ClientAnswer = Dispatcher.ResponseData;
export type HttpHeaders = ClientAnswer["headers"];

/**
 * undici, loaded with the first request because it loads slowly. Uses the default export, because a bundler
 * finds no named exports of a CommonJS module that is imported dynamically.
 */
export async function loadClient() {
  return (await import("undici")).default;
}

/**
 * Sends a request and passes its answer to `read`. A body that is not read to its end is dropped with its
 * connection.
 *
 * @throws the errors of undici and of `read`, and the reason of the deadline's signal.
 */
export async function exchange<Result>(
  request: ClientRequest,
  deadline: Deadline,
  read: (answer: ClientAnswer) => Promise<Result>,
): Promise<Result> {
  const answer = await openAnswer(request, deadline);
  try {
    return await read(answer);
  } finally {
    answer.body.destroy();
  }
}

/** Sends a request. The caller must read the body of the answer, or destroy it. */
export function openAnswer(request: ClientRequest, deadline: Deadline): Promise<ClientAnswer> {
  return deadline.within(send(request, deadline));
}

async function send(
  { url, open, onWrite, ...request }: ClientRequest,
  { signal, throwIfEnded }: Deadline,
): Promise<ClientAnswer> {
  const connections = (await open?.()) ?? (await openShared());
  throwIfEnded();
  const dispatcher = onWrite ? connections.compose(reportWrite(onWrite)) : connections;
  return sendOnce(url, { ...request, dispatcher, signal });
}

let shared: Dispatcher | undefined;

/**
 * The connections that the adapters share. They are not undici's global connections, which belong to Node's
 * own undici if its version is newer, and then reject the options of the installed version.
 */
async function openShared(): Promise<Dispatcher> {
  const { Agent } = await loadClient();
  shared ??= new Agent();
  return shared;
}

/** Sends a request without a deadline, over the shared connections unless the options name others. */
export async function sendOnce(
  url: string | URL,
  options: Omit<Dispatcher.RequestOptions, "path" | "origin"> & { readonly dispatcher?: Dispatcher },
): Promise<ClientAnswer> {
  const undici = await loadClient();
  const answer = await undici.request(url, { dispatcher: await openShared(), ...options });
  // Readers get the error themselves. Without a reader, an unhandled error event would end the process.
  answer.body.on("error", () => undefined);
  return answer;
}

/** undici starts a request, by one of two methods of its handler, once it has a connection for it. */
const startMethods: readonly unknown[] = ["onRequestStart", "onConnect"];

function reportWrite(onWrite: () => void): Dispatcher.DispatcherComposeInterceptor {
  const get = (handler: Dispatcher.DispatchHandler, name: string | symbol) => {
    const value: unknown = Reflect.get(handler, name);
    if (typeof value !== "function") {
      return value;
    }
    return (...values: readonly unknown[]) => {
      if (startMethods.includes(name)) {
        onWrite();
      }
      return value.apply(handler, values);
    };
  };
  return (dispatch) => (options, handler) => dispatch(options, new Proxy(handler, { get }));
}
