/**
 * Addresses that a customer must not be able to make the service reach, by kind, and hosts that spell such an
 * address differently.
 */

export const forbiddenAddresses: Readonly<Record<string, readonly string[]>> = {
  "this network": ["0.0.0.0", "0.1.2.3", "::"],
  loopback: ["127.0.0.1", "127.255.255.254", "::1"],
  private: ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255"],
  "link-local": ["169.254.0.1", "169.254.169.254", "fe80::1", "febf::1"],
  "carrier-grade NAT": ["100.64.0.1", "100.127.255.255"],
  "protocol assignments": ["192.0.0.1", "192.0.0.170", "2001:1::1"],
  benchmarking: ["198.18.0.1", "198.19.255.255", "2001:2::1"],
  documentation: ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
  "class E and broadcast": ["240.0.0.1", "255.255.255.254", "255.255.255.255"],
  "unique local": ["fc00::1", "fd00:ec2::254", "fdff::1"],
  "site-local": ["fec0::1"],
  "v4-mapped": ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "0:0:0:0:0:ffff:a9fe:a9fe"],
  "v4-compatible": ["::127.0.0.1", "::7f00:1", "::8.8.8.8"],
  "v4-translated": ["::ffff:0:127.0.0.1", "::ffff:0:7f00:1"],
  "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:808:808::1", "192.88.99.1"],
  NAT64: [
    "64:ff9b::7f00:1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::7f00:1",
    "64:ff9b:1:ffff::1",
  ],
  Teredo: ["2001::1", "2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  ORCHID: ["2001:10::1", "2001:20::1"],
  discard: ["100::1"],
  unassigned: ["1::1", "4000::1", "8000::1", "e000::1"],
};

/** URL hosts that spell an address of this machine or of its networks in another way. */
export const forbiddenHosts: Readonly<Record<string, readonly string[]>> = {
  "short hosts": ["127.1", "127.0.1", "0", "10.1"],
  "decimal hosts": ["2130706433", "3232235521", "2852039166"],
  "hex hosts": ["0x7f.1", "0x7f000001", "0x7F.0x0.0x0.0x1", "0xa9fea9fe"],
  "octal hosts": ["0177.0.0.1", "017700000001", "0177.1"],
  "trailing dots": ["127.0.0.1.", "localhost.", "0x7f.1.", "2130706433."],
  "names of this machine": ["localhost", "LOCALHOST", "LocalHost.", "api.localhost", "a.b.LOCALHOST."],
  "other letters and digits": [
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "\uff11\uff12\uff17.0.0.1",
    "loc%61lhost",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "%31%32%37.0.0.1",
  ],
  "upper case": ["[::FFFF:7F00:1]", "[FD00:EC2::254]", "[FE80::1]", "0X7F.1"],
};

/** An address as the host of a URL. */
export function toUrlHost(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
