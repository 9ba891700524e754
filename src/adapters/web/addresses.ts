/** Decides which IP addresses may be reached: public addresses, and addresses that the operator allowed. */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type Subnet = readonly [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** The range that IANA allocates in IPv6; everything else is special or unallocated. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** Parses `10.1.0.0/16` or a single address. */
export function readSubnet(text: string): Subnet {
  const [address = "", bits] = text.split("/");
  const network = ipaddr.parse(address);
  return [network, bits === undefined ? network.toByteArray().length * 8 : Number(bits)];
}

/** Whether `address`, an IP address in any form that a socket takes, may be reached. */
export function isReachable(address: string, allowed: readonly Subnet[]): boolean {
  const canonical = toCanonicalForm(address);
  if (canonical === undefined) {
    return false;
  }
  // An IPv4-mapped address (::ffff:10.0.0.1) counts as the IPv4 address.
  const effective = ipaddr.process(canonical);
  return isPublic(effective) || allowed.some((subnet) => isWithin(effective, subnet));
}

/**
 * The form that all parsers read in the same way; undefined if there is none, as for an address with a zone.
 * The library reads ::8.8.8.8 as ::ffff:8.8.8.8, while a socket connects to ::808:808; and the library reads
 * 010.0.0.1 as octal.
 */
function toCanonicalForm(address: string): string | undefined {
  const version = isIP(address);
  if (version === 6) {
    const url = `http://[${address}]`;
    return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : undefined;
  }
  return version === 4 ? address : undefined;
}

/**
 * The library's "unicast" is every address outside the special ranges. The library has all special ranges of
 * IPv4, but not all of IPv6 (v4-compatible `::7f00:1` is missing), so IANA's range is checked first.
 * Addresses that embed an IPv4 address (6to4, NAT64, Teredo) are special, even if the embedded address is
 * public.
 */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const isAllocated = address instanceof ipaddr.IPv4 || address.match(globalUnicast);
  return isAllocated && address.range() === "unicast";
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Subnet): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}
