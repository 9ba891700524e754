/** A local HTTP server that counts connections and requests, and answers as the test defines. */
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

export interface Receiver extends AsyncDisposable {
  readonly port: number;
  readonly connections: number;
  readonly requests: number;
}

interface ReceiverOptions {
  readonly host?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
}

export async function startReceiver(
  answer: RequestListener = (_, response) => response.end("ok"),
  { host = "127.0.0.1", tls }: ReceiverOptions = {},
): Promise<Receiver> {
  let connections = 0;
  let requests = 0;
  const listen: RequestListener = (request, response) => {
    requests += 1;
    answer(request, response);
  };
  const server: Server = tls ? createTlsServer(tls, listen) : createServer(listen);
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  return {
    port,
    get connections() {
      return connections;
    },
    get requests() {
      return requests;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
