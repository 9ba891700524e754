/**
 * The headers that the proxy forwards. It drops headers that apply to one connection, and client addresses
 * that the client chose.
 */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { BlockList, isIPv6 } from "node:net";

/** The headers of RFC 9110, section 7.6.1, and `Expect`, which the proxy's server handles itself. */
const hopByHop = [
  "connection",
  "proxy-connection",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "proxy-authenticate",
  "proxy-authorization",
];

/** Drops the headers of one connection, including headers that `Connection` names. */
export function dropHopByHop(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = headers.connection?.toLowerCase().split(",") ?? [];
  const dropped = new Set([...hopByHop, ...named.map((name) => name.trim())]);
  // Kept even if `Connection` names it, because the owner checks it for /mcp.
  dropped.delete("host");
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}

/**
 * Adds the client's address. Drops what a client says about its own address, unless the client is a trusted
 * proxy.
 */
export function createForwardedHeaders(trustedProxies: readonly string[]) {
  const trusted = toBlockList(trustedProxies);
  return (headers: OutgoingHttpHeaders, { remoteAddress: peer = "" }: IncomingMessage["socket"]) => {
    const isTrusted = trusted.check(peer, familyOf(peer));
    const kept = Object.entries(headers).filter(([name]) => isTrusted || !describesClient(name));
    const previous = isTrusted ? headers["x-forwarded-for"] : undefined;
    const chain = previous === undefined ? peer : `${previous}, ${peer}`;
    return { ...Object.fromEntries(kept), "x-forwarded-for": chain };
  };
}

function describesClient(name: string): boolean {
  return name === "forwarded" || name === "x-real-ip" || name.startsWith("x-forwarded-");
}

/** @param networks IP addresses and networks such as 10.0.0.0/8. */
function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = familyOf(address);
    list.addSubnet(address, Number(bits ?? (family === "ipv6" ? 128 : 32)), family);
  }
  return list;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}
