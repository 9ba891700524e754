/** Resolves the addresses of a host with the machine's name servers. */
import { Resolver } from "node:dns/promises";

export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/**
 * Does not use getaddrinfo, which blocks one of the four threads of libuv that files and passwords also need,
 * so that four names with silent servers would block the app. So /etc/hosts is not read.
 */
export const resolveHost: ResolveHost = async (hostname) => {
  // A new resolver each time, because it reads the list of name servers when it is created. Two attempts of 2
  // s fit into the 10 s for connecting.
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  if (v4.status === "rejected" && v6.status === "rejected") {
    throw v4.reason;
  }
  // IPv4 addresses first, because containers often have an IPv6 address but no route.
  return [v4, v6].flatMap((result) => (result.status === "fulfilled" ? result.value : []));
};
