/** Serves the pages of the documentation under /docs/. They are loaded at the first request. */
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { fail } from "../../../tools/errors.ts";
import { sendErrorPage } from "./error-page.ts";

/** Pages have no script of another origin, and no other page may frame them. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/**
 * @param folder the folder with the pages that the build made; its files are public.
 */
export function addDocumentation(app: FastifyInstance, folder: URL): void {
  const options = {
    config: { isRateLimited: false },
    compress: {},
    exposeHeadRoute: true,
    errorHandler: sendErrorPage,
  };
  app.get("/docs", options, (_request, reply) => reply.redirect("/docs/"));
  app.get("/docs/*", options, (request, reply) => sendPage(request, reply, fileURLToPath(folder)));
}

async function sendPage(request: FastifyRequest, reply: FastifyReply, root: string) {
  const path = request.url.split("?")[0] ?? "";
  const { default: send } = await import("@fastify/send");
  const { type, statusCode, headers, stream } = await send(request.raw, path.slice("/docs".length), {
    root,
    extensions: ["html"],
    dotfiles: "ignore",
  });
  if (type !== "file") {
    throw fail("route_not_found", { method: request.method, path });
  }
  reply.headers({
    ...headers,
    // A new version of the service has new pages at the same addresses.
    "cache-control": "no-cache",
    "content-security-policy": policy,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  return reply.status(statusCode).send(stream);
}
