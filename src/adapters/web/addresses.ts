/** Which IP addresses may be reached: those of the public internet, and what the operator allowed. */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type Subnet = readonly [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** What the internet's registries give out in IPv6; everything else is special or not given out. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** Reads `10.1.0.0/16` or a single address. */
export function readSubnet(text: string): Subnet {
  const [address = "", bits] = text.split("/");
  const network = ipaddr.parse(address);
  return [network, bits === undefined ? network.toByteArray().length * 8 : Number(bits)];
}

/** Whether `address`, an IP address as a socket takes it, may be reached. */
export function isReachable(address: string, allowed: readonly Subnet[]): boolean {
  const plain = toCanonicalForm(address);
  if (plain === undefined) {
    return false;
  }
  // An IPv4 address inside an IPv6 one (::ffff:10.0.0.1) is judged as what it leads to.
  const effective = ipaddr.process(plain);
  return isPublic(effective) || allowed.some((subnet) => isWithin(effective, subnet));
}

/**
 * In the one spelling on which all readers agree; undefined if it has none, like an address with a zone.
 * The library takes ::8.8.8.8 for ::ffff:8.8.8.8, where a socket goes to ::808:808; and 010.0.0.1 in octal.
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
 * The library's "unicast" is whatever it has no other name for. In IPv4 its names cover every special
 * range; in IPv6 it lacks some (v4-compatible `::7f00:1`), hence the registries' own range before it.
 * Addresses that carry an IPv4 one (6to4, NAT64, Teredo) are special, even those that carry a public one.
 */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const isAllocated = address instanceof ipaddr.IPv4 || address.match(globalUnicast);
  return isAllocated && address.range() === "unicast";
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Subnet): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}
