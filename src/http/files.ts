/** Serves files by signed link, with headers that keep a browser from executing them. */
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { Platform } from "../platform/index.ts";

export const filesPath = "/files/:organization/:name";

interface Route {
  Params: { organization: string; name: string };
  Querystring: Record<string, unknown>;
}

export function addFiles(app: FastifyInstance, platform: Platform): void {
  app.route<Route>({
    method: ["GET", "HEAD"],
    url: filesPath,
    async handler(request, reply) {
      const { params, query, headers } = request;
      const isHead = request.method === "HEAD";
      const file = await platform.openFile({
        ...params,
        expires: textOf(query.expires),
        signature: textOf(query.signature),
        range: headers.range,
        isHead,
      });
      const { start, end } = file.range ?? { start: 0, end: file.size - 1 };
      reply.headers({
        "content-type": file.type,
        "content-length": end - start + 1,
        "content-disposition": file.disposition,
        "cache-control": file.cacheControl,
        "accept-ranges": "bytes",
        etag: `"${file.sha256}"`,
        // No content sniffing, and if it is a page after all, no scripts.
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; media-src 'self'",
        "cross-origin-resource-policy": "cross-origin",
        "referrer-policy": "no-referrer",
      });
      if (file.range) {
        reply.status(206).header("content-range", `bytes ${start}-${end}/${file.size}`);
      }
      return reply.send(file.body ? Readable.from(file.body, { objectMode: false }) : "");
    },
  });
}

/** Undefined if it is missing; a repeated parameter becomes a text that matches no signature. */
function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value);
}
