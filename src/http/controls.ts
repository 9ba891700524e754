/** Mounts the controls that an adapter brings (the simulated channel's), for the organization of the key. */
import type { FastifyInstance } from "fastify";
import { permits } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
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
  }): Promise<
    | { readonly status: number; readonly body: unknown }
    | { readonly invalid: { readonly field: string; readonly message: string } }
  >;
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
        const answer = await handle({
          organization_id,
          params: request.params as Record<string, string>,
          query: request.query as Record<string, unknown>,
          body: request.body,
        });
        if ("invalid" in answer) {
          throw invalidRequest(answer.invalid);
        }
        return reply.status(answer.status).send(answer.body);
      },
    });
  }
}

function invalidRequest({ field, message }: { readonly field: string; readonly message: string }) {
  const param = field === "" ? {} : { param: field };
  return fail("invalid_request", {
    reason: message,
    ...param,
    details: [{ field, code: "invalid", message }],
  });
}
