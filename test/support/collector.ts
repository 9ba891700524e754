/** A collector of traces that keeps what it is sent, as OTLP writes it in JSON. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Collected {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly status: { readonly code?: number };
}

export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly Collected[];
  /** All that it was sent, as it came. */
  readonly text: string;
}

/** @param isSilent whether it takes connections and never answers. */
export async function startCollector({ isSilent = false } = {}): Promise<Collector> {
  const spans: Collected[] = [];
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) {
      chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString();
    texts.push(text);
    spans.push(...read(text));
    if (!isSilent) {
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    }
  }).listen(0, "127.0.0.1");
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

function read(text: string): Collected[] {
  const { resourceSpans } = JSON.parse(text) as {
    resourceSpans: { scopeSpans: { spans: Collected[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
}
