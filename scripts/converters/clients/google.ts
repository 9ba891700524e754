/**
 * `@google/genai`, which sends the schemas to Gemini as they are: with the keywords that Gemini documents.
 */
import {
  type Arguments,
  type CallResult,
  errorOf,
  load,
  type OpenClient,
  type ToolSchema,
} from "./client.ts";
import { connectSdk } from "./sdk.ts";

interface Declaration {
  readonly name: string;
  readonly parametersJsonSchema: ToolSchema;
}

interface CallableTool {
  tool(): Promise<{ readonly functionDeclarations: readonly Declaration[] }>;
  callTool(calls: readonly { readonly name: string; readonly args: Arguments }[]): Promise<readonly Part[]>;
}

interface Part {
  readonly functionResponse: { readonly response: CallResult & { readonly error?: CallResult } };
}

/** Of `parametersJsonSchema`, in the reference of the Gemini API. */
const keywords = new Set([
  "type",
  "format",
  "title",
  "description",
  "enum",
  "items",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "anyOf",
  "properties",
  "additionalProperties",
  "required",
]);

export const openGoogle: OpenClient = async (server) => {
  // As documented.
  const { mcpToTool } = (await load("@google/genai")) as { mcpToTool(client: object): CallableTool };
  const client = await connectSdk(server);
  const callable = mcpToTool(client);
  const { functionDeclarations } = await callable.tool();
  return {
    convert({ name }) {
      const declaration = functionDeclarations.find((one) => one.name === name);
      if (!declaration) {
        throw new Error("is not converted");
      }
      const unknown = [...keywordsOf(declaration.parametersJsonSchema)].filter((word) => !keywords.has(word));
      if (unknown.length > 0) {
        throw new Error(`has keywords that Gemini does not know: ${unknown.join(", ")}`);
      }
      return [{ schema: declaration.parametersJsonSchema }];
    },
    async call(tool) {
      const [part] = await callable.callTool([{ name: tool.name, args: tool.arguments }]);
      const { error, ...response } = part?.functionResponse.response ?? { isError: true };
      return errorOf(error ?? response);
    },
    close: () => client.close(),
  };
};

function keywordsOf(schema: ToolSchema, found = new Set<string>()): Set<string> {
  for (const [keyword, value] of Object.entries(schema)) {
    found.add(keyword);
    const inner =
      keyword === "properties" ? Object.values(value as object) : keyword === "items" ? [value] : [];
    for (const one of inner) {
      keywordsOf(one, found);
    }
  }
  return found;
}
