/** Errors of the pages for people: a browser gets a small page, and every other client the error envelope. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../../../tools/contract/index.ts";

/** The codes that a person can meet by an address that the person entered. */
const shownCodes = ["host_not_allowed", "route_not_found"];

/**
 * For `errorHandler` of a route. An error that is thrown again is answered by the handler of all routes.
 * @throws the error, unless a browser asks for a page.
 */
export function sendErrorPage(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const isShown = error instanceof Failure && shownCodes.includes(error.code);
  if (!isShown || !request.headers.accept?.includes("text/html")) {
    throw error;
  }
  reply
    .headers({
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
    })
    .status(error.status)
    .type("text/html; charset=utf-8")
    .send(toPage(error, request.id));
}

function toPage({ code, message, fix }: Failure, requestId: string): string {
  const advice =
    code === "route_not_found" ? '<a href="/docs/">The documentation</a> has all pages.' : escapeText(fix);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tidings: ${code}</title>
<h1>${escapeText(message)}</h1>
<p>${advice}</p>
<p>Error ${code}, request ${escapeText(requestId)}</p>
</html>
`;
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
