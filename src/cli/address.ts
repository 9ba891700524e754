/** Writes addresses that a service listens on. */
import { isIPv6 } from "node:net";

/** `http://host:port`; the loopback address for a service on every interface. */
export function toAddress(host: string, port: number): string {
  if (host === "0.0.0.0" || host === "::") {
    return `http://127.0.0.1:${port}`;
  }
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
