/** A local HTTP server that counts connections and requests, and answers as the test defines. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
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

/** May be async. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A failure of `answer` fails the run of the tests, unless the client left while it sent the request. */
export function listenerOf(answer: Answer): RequestListener {
  return async (request, response) => {
    try {
      await answer(request, response);
    } catch (error) {
      response.destroy();
      if (!request.readableAborted) {
        throw error;
      }
    }
  };
}

export async function startReceiver(
  answer: Answer = (_, response) => response.end("ok"),
  { host = "127.0.0.1", tls }: ReceiverOptions = {},
): Promise<Receiver> {
  let connections = 0;
  let requests = 0;
  const listen = listenerOf((request, response) => {
    requests += 1;
    return answer(request, response);
  });
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
