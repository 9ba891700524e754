/** Asks the machine's name servers for the addresses of a host. */
import { Resolver } from "node:dns/promises";

export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/**
 * Not the system's own look-up (getaddrinfo): it waits in one of four threads that files and passwords
 * need too, so that four names whose servers are silent would stop the house. So /etc/hosts is not read.
 */
export const resolveHost: ResolveHost = async (hostname) => {
  // Made anew, because it reads which servers to ask when it is made. Two tries of 2 s: well within the
  // 10 s that connecting may take.
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  if (v4.status === "rejected" && v6.status === "rejected") {
    throw v4.reason;
  }
  // IPv4 first: machines that believe that they have IPv6 are common in containers.
  return [v4, v6].flatMap((found) => (found.status === "fulfilled" ? found.value : []));
};
