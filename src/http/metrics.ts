/** GET /metrics: the figures, for whoever has the operator's token. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { fail } from "../../tools/errors.ts";

export interface MetricsEndpoint {
  readonly token: string;
  /** The figures in the text format of Prometheus. */
  scrape(): Promise<string>;
}

export function addMetrics(app: FastifyInstance, { token, scrape }: MetricsEndpoint): void {
  const expected = digest(token);
  // Its bearer token is no credential of the service.
  app.get("/metrics", { config: { credential: "none" } }, async ({ headers }, reply) => {
    const [, given] = /^Bearer +(\S+)\s*$/i.exec(headers.authorization ?? "") ?? [];
    if (given === undefined) {
      throw fail("credential_missing");
    }
    // Digests have one length and no likeness: the time tells nothing of the token.
    if (!timingSafeEqual(digest(given), expected)) {
      throw fail("credential_invalid");
    }
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(await scrape());
  });
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
