/** Checks the addresses of buttons, which may end with a variable. */
import { withoutPlaceholders } from "./placeholders.ts";

/** The address before the variable at its end. */
function fixedPartOf(url: string): string {
  return url.replace(/\{\{[1-9]\d{0,2}\}\}$/, "");
}

/** Whether it is a complete address whose variable, if any, is at its end. */
export function isValidUrl(url: string): boolean {
  const fixed = fixedPartOf(url);
  // A value must not become part of the host.
  const isHostFixed = fixed === url || /^https?:\/\/[^/]+\//.test(fixed);
  return (
    isHostFixed &&
    withoutPlaceholders(fixed) === fixed &&
    /^https?:\/\/[^\s/]+/.test(fixed) &&
    URL.canParse(fixed)
  );
}

/**
 * Whether the address leads every recipient to the host that it shows. The parser drops tabs and line breaks,
 * and converts an IP address in any notation to a form with a number as its last label, or with brackets.
 */
export function isSafeUrl(url: string): boolean {
  const fixed = fixedPartOf(url);
  const { protocol, username, password, hostname } = new URL(fixed);
  const host = hostname.replace(/\.$/, "");
  const isPublicName = /\.[^.\]]*[^.\]\d][^.\]]*$/.test(host) && !host.endsWith(".localhost");
  const hasUser = username !== "" || password !== "" || /^https?:\/\/[^/?#]*@/.test(fixed);
  return protocol === "https:" && isPublicName && !hasUser && !/[\s\p{C}"<>\\^`{|}]/u.test(fixed);
}
