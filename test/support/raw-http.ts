/** Sends bytes to an HTTP server, for requests that no client library would send. */
import { connect } from "node:net";

export interface RawResponse {
  readonly status: number;
  /** By name in lower case; the last one of a repeated name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends lines, each ended by CRLF, and reads until the server closes the connection. */
export async function sendRaw(port: number, lines: readonly string[]): Promise<RawResponse> {
  const socket = connect(port, "127.0.0.1");
  socket.write(lines.map((line) => `${line}\r\n`).join(""));
  const text = Buffer.concat(await socket.toArray()).toString();
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...headers] = text.slice(0, end).split("\r\n");
  return {
    status: Number(statusLine.split(" ")[1]),
    headers: Object.fromEntries(headers.map(readHeader)),
    body: text.slice(end + 4),
  };
}

function readHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
