/** The OpenAPI document of all operations and described routes, made without a running app. */
import { describeApi } from "../../src/http/openapi/index.ts";
import type { HttpRoute } from "../../src/ports/transport/http-route.ts";
import type { JsonSchema } from "../../tools/contract/index.ts";
import { catalogue } from "../../tools/index.ts";

export interface DocumentedBody {
  readonly content: Readonly<
    Record<string, { readonly schema: JsonSchema; readonly example?: unknown } | undefined>
  >;
}

export interface DocumentedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description: string;
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: DocumentedBody;
  readonly responses: Readonly<Record<string, (Partial<DocumentedBody> & JsonSchema) | undefined>>;
}

export interface ApiDocument {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation | undefined>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: DocumentedOperation }>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
}

export function readDocument(routes: readonly HttpRoute[] = []): ApiDocument {
  const document = describeApi({
    operations: catalogue,
    routes,
    version: "0.0.0",
    documentPath: "/v1/openapi.json",
  });
  return JSON.parse(JSON.stringify(document));
}
