/** A collector of traces that discards what it receives. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export async function startCollector() {
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => response.end("{}"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}
