/** Serves the OpenAPI document, which is made at the first request for it. */
import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { ApiParts } from "./openapi/index.ts";

interface Document {
  readonly text: string;
  readonly etag: string;
}

const documentPath = "/v1/openapi.json";

export function addApiDocument(app: FastifyInstance, parts: Omit<ApiParts, "documentPath">): void {
  let document: Promise<Document> | undefined;
  app.get(documentPath, { config: { credential: "none" }, compress: {} }, async (request, reply) => {
    document ??= createDocument({ ...parts, documentPath });
    const { text, etag } = await document;
    reply.header("etag", etag).header("cache-control", "no-cache");
    if (isHeld(request.headers["if-none-match"], etag)) {
      return reply.status(304).send();
    }
    return reply.type("application/json").send(text);
  });
}

async function createDocument(parts: ApiParts): Promise<Document> {
  const { describeApi } = await import("./openapi/index.ts");
  const text = JSON.stringify(describeApi(parts));
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url")}"` };
}

/** Whether the client has this version: `If-None-Match` has the weak comparison (RFC 9110, 13.1.2). */
export function isHeld(header: string | undefined, etag: string): boolean {
  const held = header?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return held.includes(etag) || held.includes("*");
}
