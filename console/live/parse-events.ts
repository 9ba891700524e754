/** Reads Server-Sent Events from the body of an answer. */

export interface StreamedEvent {
  /** A cursor: the stream continues after it. */
  readonly id: string;
  /** The type of the event, or `open` or `gap`. */
  readonly type: string;
  readonly data: string;
}

/** Yields the events of a stream; comments, which are heartbeats, are yielded as null. */
export async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamedEvent | null> {
  let text = "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    text += decoder.decode(value, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      yield parseBlock(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
}

function parseBlock(block: string): StreamedEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) {
      fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""));
    }
  }
  const type = fields.get("event");
  return type === undefined ? null : { id: fields.get("id") ?? "", type, data: fields.get("data") ?? "{}" };
}
