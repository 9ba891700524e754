/** The network of an IP address, by which its requests are limited. */
import ipaddr from "ipaddr.js";

/** An IPv4 address, or the /64 of an IPv6 address, because a client can choose any address within its /64. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) {
    return address;
  }
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? `${parsed.parts.slice(0, 4).join(":")}/64` : parsed.toString();
}
