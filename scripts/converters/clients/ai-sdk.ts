/** `@ai-sdk/mcp`, the client of the AI SDK. */
import {
  type Arguments,
  type CallResult,
  errorOf,
  load,
  type OpenClient,
  type ToolSchema,
} from "./client.ts";

interface AiTool {
  readonly inputSchema: { readonly jsonSchema: ToolSchema | Promise<ToolSchema> };
  execute(input: Arguments, options: object): Promise<CallResult>;
}

interface AiSdk {
  createMCPClient(options: object): Promise<{
    tools(): Promise<Readonly<Record<string, AiTool>>>;
    close(): Promise<void>;
  }>;
}

interface AiSdkStdio {
  readonly Experimental_StdioMCPTransport: new (command: object) => object;
}

export const openAiSdk: OpenClient = async (server) => {
  const { createMCPClient } = (await load("@ai-sdk/mcp")) as AiSdk; // the package's documented exports
  const stdio = (await load("@ai-sdk/mcp/mcp-stdio")) as AiSdkStdio; // the same
  const client = await createMCPClient({ transport: new stdio.Experimental_StdioMCPTransport(server) });
  const tools = await client.tools();
  const schemas = new Map<string, ToolSchema>();
  for (const [name, { inputSchema }] of Object.entries(tools)) {
    schemas.set(name, await inputSchema.jsonSchema);
  }
  return {
    convert({ name }) {
      const schema = schemas.get(name);
      if (!schema) {
        throw new Error("is not converted");
      }
      return [{ schema }];
    },
    async call(tool) {
      const options = { toolCallId: "call_1", messages: [] };
      const result = await tools[tool.name]?.execute(tool.arguments, options);
      return errorOf(result ?? { isError: true });
    },
    close: () => client.close(),
  };
};
