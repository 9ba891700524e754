/** What an address must be like to be reached, and what can be told of it without a look-up. */
import { isIP } from "node:net";
import type { ForbiddenRequest } from "../../ports/web.ts";
import { isReachable, readSubnet, type Subnet } from "./addresses.ts";

export interface WebRules {
  readonly schemes: readonly string[];
  readonly ports: readonly number[] | "any";
  /** Subnets that may be reached although they are not public. */
  readonly allowed: readonly Subnet[];
}

export interface WebSettings {
  /** Subnets that the operator allows, `10.1.0.0/16`. They open addresses, not schemes or ports. */
  readonly allow: readonly string[];
  /** Whether receivers on this machine are allowed, by plain http and on any port. */
  readonly isLocalAllowed: boolean;
}

/**
 * Where servers speak https: 443, and 8443, where those listen that may not open a port below 1024. Any
 * other would let customers try the doors of strangers from here, and speak to mail or database servers.
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

/** What may be connected to; a name is judged again when it is looked up. */
export function checkUrl(text: string, rules: WebRules): URL | ForbiddenRequest {
  // The one reading of the address: what is checked here is what is connected to. It writes every
  // spelling of an IPv4 address (2130706433, 0x7f.1, 0177.0.0.1, full-width digits) in the usual way.
  if (!URL.canParse(text)) {
    return forbid("url", "This is no address; write it as https://host/path.");
  }
  const url = new URL(text);
  if (!rules.schemes.includes(url.protocol)) {
    const schemes = rules.schemes.map((scheme) => `${scheme}//`).join(" or ");
    return forbid("scheme", `The address must start with ${schemes}.`);
  }
  if (url.username !== "" || url.password !== "") {
    return forbid(
      "credentials",
      "The address must not hold a user name or a password; send a header instead.",
    );
  }
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (port === 0 || (rules.ports !== "any" && !rules.ports.includes(port))) {
    return forbid("port", `Port ${port} is not allowed; allowed are ${describePorts(rules)}.`);
  }
  const known = literalAddressesOf(url.hostname);
  if (known && !known.some((address) => isReachable(address, rules.allowed))) {
    return forbid("address", `${url.hostname} is not an address of the public internet.`);
  }
  return url;
}

/**
 * The addresses that a host has without asking anyone; undefined if it is a name to be looked up. Names
 * under localhost are this machine's by definition (RFC 6761), whatever a name server says.
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
