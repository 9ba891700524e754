/** Mounts the controls that an adapter brings (the simulated channel's), for the organization of the key. */
import type { FastifyInstance } from "fastify";
import { fail } from "../../tools/failure.ts";
import { permits } from "../../tools/scopes.ts";
import type { Platform } from "../platform/index.ts";
import { identify } from "./router.ts";

/** A control as an adapter describes it. */
export interface ControlRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With `{name}` placeholders. */
  readonly path: string;
  handle(request: {
    readonly organization_id: string;
    readonly params: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, unknown>>;
    readonly body: unknown;
  }): Promise<{ status: number; body: unknown }>;
}

export function addControls(
  app: FastifyInstance,
  platform: Platform,
  controls: readonly ControlRoute[],
): void {
  for (const { method, path, handle } of controls) {
    app.route({
      method,
      url: path.replace(/\{(\w+)\}/g, ":$1"),
      async handler(request, reply) {
        const { organization_id, scopes } = await identify(platform, request);
        const needed = method === "GET" ? "inbox:read" : "inbox:write";
        if (!permits(scopes, needed)) {
          throw fail("insufficient_scope", { required_scope: needed });
        }
        const { status, body } = await handle({
          organization_id,
          params: request.params as Record<string, string>,
          query: request.query as Record<string, unknown>,
          body: request.body,
        });
        return reply.status(status).send(body);
      },
    });
  }
}
