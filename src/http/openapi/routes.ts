/** Describes the routes that are not operations. */
import type { ApiSchema } from "../../../tools/contract/index.ts";
import type { HttpRoute, RouteDescription } from "../../ports/transport/http-route.ts";
import type { Components } from "./components.ts";
import { withExample } from "./examples.ts";
import { type DescribedRoute, describeScope, security, toTypeName } from "./operations.ts";
import { describePath, describeQuery, readFields } from "./parameters.ts";
import { rateLimitHeaders, referFailures, referHeaders } from "./responses.ts";

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
  return {
    operationId: name,
    tags: [tag],
    summary: title,
    description: describeScope(description, route.credential === "any" ? route.scope : null),
    security: security[credential],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: describeBody(name, body, components) } : {}),
    responses: {
      ...describeResponse(about, isGuarded || isRateLimited, components),
      ...referFailures([
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

function describeBody(
  name: string,
  { schema, example }: NonNullable<RouteDescription["body"]>,
  components: Components,
) {
  const request = components.name(`${toTypeName(name)}Request`, components.read(schema, "input"));
  return { required: false, content: { "application/json": { schema: request, example } } };
}

function describeResponse(
  { name, response: { status, body } }: RouteDescription,
  isCounted: boolean,
  components: Components,
) {
  const [type, content] =
    typeof body === "string"
      ? [body, { schema: body.startsWith("text/") ? text : binary }]
      : ["application/json", describeJson(name, body, components)];
  return {
    [status]: {
      description: "Done.",
      headers: referHeaders(["X-Request-Id", ...(isCounted ? rateLimitHeaders : [])]),
      content: { [type]: content },
    },
  };
}

const text = { type: "string" };
const binary = { ...text, format: "binary" };

function describeJson(name: string, body: ApiSchema, components: Components) {
  const schema = components.name(`${toTypeName(name)}Response`, components.read(body, "output"));
  return withExample(schema, { schemas: components.schemas, owner: "" });
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
        ...referFailures([429]),
      },
    },
  };
}
