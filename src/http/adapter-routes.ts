/** Mounts the routes of an adapter, such as the simulator's; each acts for the organization of the API key. */
import type { FastifyInstance } from "fastify";
import { permits } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import type { Platform } from "../platform/index.ts";
import type { AdapterRoute } from "../ports/adapter-routes.ts";
import { authenticateRequest } from "./router.ts";

interface RouteTypes {
  Params: Record<string, string>;
  Querystring: Record<string, unknown>;
}

export function addAdapterRoutes(
  app: FastifyInstance,
  platform: Platform,
  routes: readonly AdapterRoute[],
): void {
  for (const { method, path, handle } of routes) {
    app.route<RouteTypes>({
      method,
      url: path.replace(/\{(\w+)\}/g, ":$1"),
      async handler(request, reply) {
        const { organization_id, scopes } = await authenticateRequest(platform, request);
        const required_scope = method === "GET" ? "inbox:read" : "inbox:write";
        if (!permits(scopes, required_scope)) {
          throw fail("insufficient_scope", { required_scope });
        }
        const { params, query, body } = request;
        const answer = await handle({ organization_id, params, query, body });
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
