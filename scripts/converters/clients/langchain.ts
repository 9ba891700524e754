/**
 * `@langchain/mcp-adapters`, which simplifies the schemas, validates the arguments by
 * them, and throws errors.
 */
import { type Arguments, load, type OpenClient, type ToolSchema } from "./client.ts";

interface StructuredTool {
  readonly name: string;
  readonly schema: ToolSchema;
  invoke(input: Arguments): Promise<unknown>;
}

interface Adapters {
  readonly MultiServerMCPClient: new (
    options: object,
  ) => {
    getTools(): Promise<StructuredTool[]>;
    close(): Promise<void>;
  };
}

export const openLangchain: OpenClient = async ({ command, args, env }) => {
  const { MultiServerMCPClient } = (await load("@langchain/mcp-adapters")) as Adapters; // the package's documented exports
  const mcpServers = { tidings: { transport: "stdio", command, args, env } };
  const client = new MultiServerMCPClient({ mcpServers });
  const tools = new Map((await client.getTools()).map((tool) => [tool.name, tool]));
  const find = (name: string) => {
    const tool = tools.get(name);
    if (!tool) {
      throw new Error("is not converted");
    }
    return tool;
  };
  return {
    convert: ({ name }) => [{ schema: find(name).schema }],
    async call(tool) {
      await find(tool.name).invoke(tool.arguments);
      return undefined;
    },
    close: () => client.close(),
  };
};
