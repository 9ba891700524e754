/** The parts of the OpenAPI document that the pages show, and references in it. */
import { describeApi } from "../../../../src/http/openapi/index.ts";
import { operationsOf } from "../../../../src/platform/index.ts";

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly "application/json"?: { readonly schema: Schema; readonly example?: unknown };
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface ApiDocument {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export const operations = operationsOf(undefined);

// `ApiDocument` names what is read of it.
export const apiDocument = describeApi({
  operations,
  routes: [],
  version: "",
  documentPath: "/v1/openapi.json",
}) as unknown as ApiDocument;

/** The schema itself, in place of a reference to it. What stands beside the reference applies too. */
export function resolveSchema({ $ref, ...beside }: Schema): Schema {
  const name = $ref?.split("/").at(-1);
  return name === undefined ? beside : { ...apiDocument.components.schemas[name], ...beside };
}
