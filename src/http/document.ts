/** Serves the OpenAPI document, which is made at the first request for it. */
import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { createEncodeContent, type EncodeContent } from "./encodings.ts";
import type { ApiParts } from "./openapi/index.ts";

interface Document {
  readonly encode: EncodeContent;
  readonly etag: string;
}

const documentPath = "/v1/openapi.json";

export function addApiDocument(app: FastifyInstance, parts: Omit<ApiParts, "documentPath">): void {
  let document: Promise<Document> | undefined;
  app.get(documentPath, { config: { credential: "none" } }, async (request, reply) => {
    document ??= createDocument({ ...parts, documentPath });
    const { encode, etag } = await document;
    reply.header("etag", etag).header("cache-control", "no-cache");
    if (isHeld(request.headers["if-none-match"], etag)) {
      return reply.status(304).send();
    }
    const { content, headers } = await encode(request.headers["accept-encoding"]);
    return reply.headers(headers).type("application/json").send(content);
  });
}

async function createDocument(parts: ApiParts): Promise<Document> {
  const { describeApi } = await import("./openapi/index.ts");
  const content = Buffer.from(JSON.stringify(describeApi(parts)));
  const etag = `"${createHash("sha256").update(content).digest("base64url")}"`;
  return { encode: createEncodeContent(content), etag };
}

/** Whether the client has this version: `If-None-Match` has the weak comparison (RFC 9110, 13.1.2). */
export function isHeld(header: string | undefined, etag: string): boolean {
  const held = header?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return held.includes(etag) || held.includes("*");
}
