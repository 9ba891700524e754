/**
 * `@mastra/schema-compat`, which converts a schema for the model that is used, and validates the arguments by
 * the result. It has no client: Mastra's own uses the SDK.
 */
import { findClosed } from "./check.ts";
import { errorOf, load, type OpenClient, type PlannedTool, type ToolSchema } from "./client.ts";
import { connectSdk } from "./sdk.ts";

interface CompatSchema {
  readonly "~standard": {
    validate(value: unknown): { readonly issues?: readonly { readonly message: string }[] } | Promise<never>;
  };
}

interface Layer {
  processToJSONSchema(schema: object, io: "input"): ToolSchema;
  processToCompatSchema(schema: object): CompatSchema;
}

type LayerClass = new (model: {
  readonly provider: string;
  readonly modelId: string;
  readonly supportsStructuredOutputs: boolean;
}) => Layer;

interface SchemaCompat extends Readonly<Record<LayerName, LayerClass>> {
  toStandardSchema(schema: object): object;
}

/** A model of each layer. */
const models = {
  OpenAISchemaCompatLayer: { provider: "openai", modelId: "gpt-4o" },
  OpenAIReasoningSchemaCompatLayer: { provider: "openai", modelId: "o3" },
  GoogleSchemaCompatLayer: { provider: "google", modelId: "gemini-2.5-flash" },
  AnthropicSchemaCompatLayer: { provider: "anthropic", modelId: "claude-sonnet-4" },
  DeepSeekSchemaCompatLayer: { provider: "deepseek", modelId: "deepseek-chat" },
  MetaSchemaCompatLayer: { provider: "meta", modelId: "llama-4" },
} as const;

type LayerName = keyof typeof models;

const closed =
  "its layer for OpenAI closes objects of any members, which strict mode does not have: such a model can't fill them";

export const openMastra: OpenClient = async (server) => {
  const compat = (await load("@mastra/schema-compat")) as SchemaCompat; // the package's documented exports
  const client = await connectSdk(server);
  const listed = new Map((await client.listTools()).tools.map((tool) => [tool.name, tool]));
  const layers = Object.entries(models).map(([name, model]) => {
    const Layer = compat[name as LayerName]; // a key of the table
    return new Layer({ ...model, supportsStructuredOutputs: true });
  });
  const schemaOf = ({ name }: PlannedTool) => {
    const tool = listed.get(name);
    if (!tool) {
      throw new Error("is not listed");
    }
    return compat.toStandardSchema({ ...tool.inputSchema });
  };
  return {
    convert(tool) {
      return layers.map((layer) => {
        const schema = layer.processToJSONSchema(schemaOf(tool), "input");
        return { schema, ...(findClosed(tool.inputSchema, schema).length > 0 ? { note: closed } : {}) };
      });
    },
    async call(tool) {
      for (const layer of layers) {
        const { issues } = await layer
          .processToCompatSchema(schemaOf(tool))
          ["~standard"].validate(tool.arguments);
        if (issues) {
          return issues.map(({ message }) => message).join(" ");
        }
      }
      const { name, arguments: sent } = tool;
      return errorOf(await client.callTool({ name, arguments: sent }));
    },
    close: () => client.close(),
  };
};
