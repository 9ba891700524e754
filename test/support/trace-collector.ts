/** A trace collector that keeps the spans it receives as OTLP in JSON. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { listenerOf } from "./receiver.ts";

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly status: { readonly code?: number };
}

export interface TraceCollector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** The request bodies that it received. */
  readonly text: string;
}

/** @param isSilent whether it accepts connections and never answers. */
export async function startTraceCollector({ isSilent = false } = {}): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  const receive = listenerOf(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) {
      chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString();
    texts.push(text);
    spans.push(...parseSpans(text));
    if (!isSilent) {
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    }
  });
  const server = createServer(receive).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    get text() {
      return texts.join("\n");
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function parseSpans(text: string): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(text) as {
    resourceSpans: { scopeSpans: { spans: CollectedSpan[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
}
