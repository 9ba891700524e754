/** What web pages of other origins, and browsers in general, are sent: CORS headers and compressed JSON. */
import type { FastifyInstance } from "fastify";

/** The paths that a page of an allowed origin may call. /mcp has a list of its own, the others have none. */
const sharedPaths = ["/v1/", "/simulator/", "/files/"];

/** The headers of answers that a page may read, beside those that it always may. */
const exposedHeaders = [
  "etag",
  "idempotency-replayed",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "retry-after",
  "x-request-id",
];

/** How long a browser may keep the answer to a preflight request; Chromium keeps none longer. */
const preflightSeconds = 7_200;

/**
 * Lets pages of these origins call the API with a key or a token, never with cookies. Await it before other
 * hooks and routes are added, so that errors of admission have the headers too.
 */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) {
    return;
  }
  const { default: cors } = await import("@fastify/cors");
  const shared = {
    origin: [...origins],
    methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    exposedHeaders,
    credentials: false,
    maxAge: preflightSeconds,
  };
  await app.register(cors, {
    delegator: (request, callback) =>
      callback(null, sharedPaths.some((path) => request.url.startsWith(path)) ? shared : { origin: false }),
  });
}

/** Smaller answers fit in one packet. */
export const minCompressedBytes = 1_024;

/**
 * Compresses answers of the routes that ask for it (`compress: {}`). Await it before the routes are added.
 *
 * An answer with a secret must not ask for it: from the length of compressed answers, who can choose a part
 * of the answer can guess the rest.
 */
export async function compressAnswers(app: FastifyInstance): Promise<void> {
  const { default: compress } = await import("@fastify/compress");
  await app.register(compress, {
    global: false,
    globalDecompression: false,
    threshold: minCompressedBytes,
    encodings: ["br", "gzip"],
  });
}
