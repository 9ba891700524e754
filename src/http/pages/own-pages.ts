/**
 * Keeps pages of other origins away from the routes that only the service's own pages use.
 *
 * A browser sends cookies of this host with requests of every page on the host, whatever its port, so
 * `SameSite=Strict` does not keep out a page of another local service. What keeps it out is what the browser
 * says about the page: `Sec-Fetch-Site`, or `Origin` where a browser sends only that. The Host header must
 * name this service, because a page may have made its own name lead here (DNS rebinding). What a proxy says
 * in forwarded headers is ignored: every client can send them.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance } from "fastify";
import { fail } from "../../../tools/errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether only pages of this service may use the route. Default: false. */
    readonly isForOwnPages?: boolean;
  }
}

/** How browsers may address this service, besides by the loopback names. */
export interface OwnAddresses {
  /** Host names without a port. */
  readonly allowedHosts: readonly string[];
  readonly publicUrl: string | undefined;
}

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/** These methods change nothing here. */
const safeMethods = ["GET", "HEAD"];

export function guardOwnPages(app: FastifyInstance, addresses: OwnAddresses): void {
  app.addHook("onRequest", async ({ method, headers, routeOptions }) => {
    if (!routeOptions.config.isForOwnPages) {
      return;
    }
    requireOwnHost(headers, addresses);
    if (!safeMethods.includes(method) && !isFromOwnPage(headers, addresses)) {
      throw fail("foreign_page");
    }
  });
}

/** @throws Failure `host_not_allowed`. */
export function requireOwnHost({ host = "" }: IncomingHttpHeaders, addresses: OwnAddresses): void {
  const { allowedHosts, publicUrl } = addresses;
  const [, name = ""] = /^([a-z\d.-]+|\[[a-f\d:.]+\])(?::\d{1,5})?$/i.exec(host) ?? [];
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
  if (![...loopbackNames, ...allowedHosts, ...own].includes(name.toLowerCase())) {
    throw fail("host_not_allowed", { header: "Host", setting: "TIDINGS_ALLOWED_HOSTS" });
  }
}

/** The host of the request is known to be this service's. */
function isFromOwnPage(headers: IncomingHttpHeaders, { publicUrl }: OwnAddresses): boolean {
  const { host, origin, "sec-fetch-site": site } = headers;
  // Browsers send it to addresses that they trust, which are https and loopback, and pages can't set it.
  if (site !== undefined) {
    return site === "same-origin";
  }
  if (origin === undefined || host === undefined) {
    return false;
  }
  const own = publicUrl === undefined ? undefined : new URL(publicUrl);
  // A page that was sent without encryption is not the page at the public https address.
  const isPublicHost = own?.host === host.toLowerCase();
  return isPublicHost
    ? origin === own.origin
    : [`http://${host.toLowerCase()}`, `https://${host.toLowerCase()}`, own?.origin].includes(origin);
}
