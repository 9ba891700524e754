/** The rules for URLs, and the checks that need no DNS look-up. */
import { isIP } from "node:net";
import type { ForbiddenRequest } from "../../ports/web.ts";
import { isReachable, readSubnet, type Subnet } from "./addresses.ts";

export interface WebRules {
  readonly schemes: readonly string[];
  readonly ports: readonly number[] | "any";
  /** Non-public subnets that may be reached. */
  readonly allowed: readonly Subnet[];
}

export interface WebSettings {
  /** Subnets that the operator allows, such as `10.1.0.0/16`; schemes and ports stay restricted. */
  readonly allow: readonly string[];
  /** Whether servers on this machine are allowed, with plain http and any port. */
  readonly isLocalAllowed: boolean;
}

/**
 * The usual ports of https: 443, and 8443 for processes that may not open a port below 1024. With other
 * ports, customers could scan hosts from here and connect to mail or database servers.
 */
const httpsPorts = [443, 8443];

const loopback = ["127.0.0.0/8", "::1"];

export function createWebRules({ allow, isLocalAllowed }: WebSettings): WebRules {
  return {
    schemes: isLocalAllowed ? ["https:", "http:"] : ["https:"],
    ports: isLocalAllowed ? "any" : httpsPorts,
    allowed: [...allow, ...(isLocalAllowed ? loopback : [])].map(readSubnet),
  };
}

/** Returns the parsed URL if it is allowed. A host name is checked again when it is resolved. */
export function checkUrl(text: string, rules: WebRules): URL | ForbiddenRequest {
  // Parsed once, so that the checked URL is the requested URL. URL normalizes every form of an IPv4 address
  // (2130706433, 0x7f.1, 0177.0.0.1, full-width digits).
  if (!URL.canParse(text)) {
    return forbid("url", "This is not a URL; write it as https://host/path.");
  }
  const url = new URL(text);
  if (!rules.schemes.includes(url.protocol)) {
    const schemes = rules.schemes.map((scheme) => `${scheme}//`).join(" or ");
    return forbid("scheme", `The URL must start with ${schemes}.`);
  }
  if (url.username !== "" || url.password !== "") {
    return forbid("credentials", "The URL must not contain a user name or password; send a header instead.");
  }
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (port === 0 || (rules.ports !== "any" && !rules.ports.includes(port))) {
    return forbid("port", `Port ${port} is not allowed; allowed are ${describePorts(rules)}.`);
  }
  const known = literalAddressesOf(url.hostname);
  if (known && !known.some((address) => isReachable(address, rules.allowed))) {
    return forbid("address", `${url.hostname} is not a public address.`);
  }
  return url;
}

/**
 * The addresses of a host that needs no look-up; undefined for a name that must be resolved. By definition
 * (RFC 6761), names under localhost are this machine.
 */
export function literalAddressesOf(hostname: string): readonly string[] | undefined {
  const bare = hostname.replace(/^\[|\]$/g, "");
  if (/(?:^|\.)localhost\.?$/i.test(bare)) {
    return ["127.0.0.1", "::1"];
  }
  return isIP(bare) === 0 ? undefined : [bare];
}

export function forbid(reason: ForbiddenRequest["reason"], detail: string): ForbiddenRequest {
  return { outcome: "forbidden", reason, detail };
}

function describePorts({ ports }: WebRules): string {
  return ports === "any" ? "1 to 65535" : ports.join(" and ");
}
