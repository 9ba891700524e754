/** Describes the routes that are not operations. */
import type { HttpRoute, RouteDescription } from "../../ports/transport/http-route.ts";
import type { Components } from "./components.ts";
import { type DescribedRoute, describeScope, security, toTypeName } from "./operations.ts";
import { describePath, describeQuery, readFields } from "./parameters.ts";
import { rateLimitHeaders, referHeaders, refuse } from "./responses.ts";

export function describeRoutes(routes: readonly HttpRoute[], components: Components): DescribedRoute[] {
  return routes.flatMap((route) => {
    const { about, path, methods } = route;
    const [method = "GET"] = methods;
    return about ? [{ method, path, description: describeRoute(route, about, components) }] : [];
  });
}

function describeRoute(route: HttpRoute, about: RouteDescription, components: Components) {
  const { path, credential, isRateLimited = true } = route;
  const { name, tag, title, description, query, body } = about;
  const fields = readFields(query && components.read(query, "input"));
  const parameters = [...describePath(path, fields), ...describeQuery(fields)];
  const isGuarded = credential !== "none";
  const requestName = `${toTypeName(name)}Request`;
  return {
    operationId: name,
    tags: [tag],
    summary: title,
    description: describeScope(description, route.credential === "any" ? route.scope : null),
    security: security[credential],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            required: false,
            content: {
              "application/json": { schema: components.name(requestName, components.read(body, "input")) },
            },
          },
        }
      : {}),
    responses: {
      ...describeResponse(about, isGuarded || isRateLimited, components),
      ...refuse([
        ...(parameters.length > 0 || body ? [400 as const] : []),
        ...(isGuarded ? ([401] as const) : []),
        403,
        ...(path.includes("{") ? ([404] as const) : []),
        ...(body ? ([413, 415] as const) : []),
        ...(isGuarded || isRateLimited ? ([429] as const) : []),
      ]),
    },
  };
}

function describeResponse(
  { name, response: { status, body } }: RouteDescription,
  isCounted: boolean,
  components: Components,
) {
  const schema =
    typeof body === "string"
      ? { type: "string", ...(body.startsWith("text/") ? {} : { format: "binary" }) }
      : components.name(`${toTypeName(name)}Response`, components.read(body, "output"));
  return {
    [status]: {
      description: "Done.",
      headers: referHeaders(["X-Request-Id", ...(isCounted ? rateLimitHeaders : [])]),
      content: { [typeof body === "string" ? body : "application/json"]: { schema } },
    },
  };
}

/** The route of the document itself. */
export function describeDocument(path: string): DescribedRoute {
  const headers = referHeaders(["X-Request-Id", ...rateLimitHeaders, "ETag"]);
  const schema = { type: "object", additionalProperties: true };
  return {
    method: "GET",
    path,
    description: {
      operationId: "get_openapi_document",
      tags: ["service"],
      summary: "Get this document",
      description: "Get the description of the API in OpenAPI 3.1.",
      security: security.none,
      parameters: [
        {
          name: "If-None-Match",
          in: "header",
          required: false,
          description: "The ETag of the version that the client has.",
          schema: { type: "string" },
        },
      ],
      responses: {
        200: { description: "The document.", headers, content: { "application/json": { schema } } },
        304: { description: "The client has this version.", headers },
        ...refuse([429]),
      },
    },
  };
}
