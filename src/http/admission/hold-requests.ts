/** Rejects requests while a restored service is held. */
import type { FastifyInstance } from "fastify";
import { fail } from "../../../tools/errors.ts";

/** Health checks, metrics, documentation, and what the commands on the machine of the service need. */
const answered = /^\/(?:healthz|drainz|metrics|docs|data-folder)(?:[/?]|$)/;

/**
 * Channels and payment processors send their webhooks again later, so the restored service receives those
 * that it rejects. `/readyz` fails too.
 */
export function holdRequests(
  app: FastifyInstance,
  { isHeld }: { readonly isHeld: () => Promise<boolean> },
): void {
  app.addHook("onRequest", async ({ url }) => {
    if (!answered.test(url) && (await isHeld())) {
      throw fail("unavailable", {
        reason: "it was restored from a backup and is held until its operator runs tidings release.",
        retry_after: 60,
      });
    }
  });
}
