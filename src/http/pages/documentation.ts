/** Serves the pages of the documentation under /docs/. They are loaded at the first request. */
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { fail } from "../../../tools/errors.ts";
import { createEncodeContent, type EncodeContent } from "../encodings.ts";
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
    exposeHeadRoute: true,
    errorHandler: sendErrorPage,
  };
  const root = fileURLToPath(folder);
  const pages: Pages = new Map();
  app.get("/docs", options, (_request, reply) => reply.redirect("/docs/"));
  app.get("/docs/*", options, (request, reply) => sendPage(request, reply, { root, pages }));
}

/** The texts that were sent, by file and version. */
type Pages = Map<string, EncodeContent>;

async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { root, pages }: { readonly root: string; readonly pages: Pages },
) {
  const path = request.url.split("?")[0] ?? "";
  const { default: send } = await import("@fastify/send");
  const { type, statusCode, headers, stream, metadata } = await send(
    request.raw,
    path.slice("/docs".length),
    {
      root,
      extensions: ["html"],
      dotfiles: "ignore",
    },
  );
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
  const isWholeText = statusCode === 200 && request.method === "GET" && isText(headers["Content-Type"]);
  if (!isWholeText) {
    return reply.status(statusCode).send(stream);
  }
  const version = `${metadata.path} ${headers.ETag}`;
  const encode = pages.get(version) ?? createEncodeContent(await buffer(stream));
  stream.destroy();
  pages.set(version, encode);
  const encoded = await encode(request.headers["accept-encoding"]);
  return reply
    .headers({ ...encoded.headers, "content-length": encoded.content.length })
    .send(encoded.content);
}

/** The other files, such as images, are compressed already. */
function isText(type: string | undefined): boolean {
  return /^text\/|json|xml|javascript/.test(type ?? "");
}
