/** A client of the stream of events. */
import { ownerKey, type TestApp } from "./app.ts";

export interface StreamedEvent {
  /** The cursor after the event. */
  readonly id: string;
  readonly event: string;
  readonly data: { readonly id?: string; readonly data?: Readonly<Record<string, unknown>> };
}

export interface StreamClient extends AsyncDisposable {
  /** Waits for the next event; undefined if the stream has ended. */
  next(): Promise<StreamedEvent | undefined>;
  /** Aborts the connection. */
  abort(): void;
}

interface StreamRequest {
  readonly key?: string;
  readonly token?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly lastId?: string;
}

export async function requestStream(app: Pick<TestApp, "address">, request: StreamRequest = {}) {
  const { key = ownerKey, token, query = {}, lastId } = request;
  const aborting = new AbortController();
  const response = await fetch(new URL(`/v1/events/stream?${new URLSearchParams(query)}`, app.address), {
    headers: {
      ...(token === undefined ? { "x-api-key": key } : { authorization: `Bearer ${token}` }),
      ...(lastId === undefined ? {} : { "last-event-id": lastId }),
    },
    signal: aborting.signal,
  });
  return { response, abort: () => aborting.abort() };
}

/** Resolves when the stream has sent its first event, `open` or `gap`. */
export async function openStream(
  app: Pick<TestApp, "address">,
  request: StreamRequest = {},
): Promise<StreamClient & { readonly first: StreamedEvent | undefined }> {
  const { response, abort } = await requestStream(app, request);
  if (!response.body) {
    throw new Error(`The stream was answered with ${response.status}.`);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async (): Promise<StreamedEvent | undefined> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end < 0) {
        const { done, value } = await reader.read();
        if (done) {
          return undefined;
        }
        text += value;
        continue;
      }
      const event = parse(text.slice(0, end));
      text = text.slice(end + 2);
      if (event) {
        return event;
      }
    }
  };
  const first = await next();
  return {
    first,
    next,
    abort,
    async [Symbol.asyncDispose]() {
      abort();
    },
  };
}

/** Undefined for a comment. */
function parse(block: string): StreamedEvent | undefined {
  const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s)));
  return fields.event && { id: fields.id, event: fields.event, data: JSON.parse(fields.data) };
}
