/** `@openai/agents`, which converts schemas to the strict mode of OpenAI. */
import type { Arguments, OpenClient, ToolSchema } from "./client.ts";
import { load } from "./client.ts";

interface FunctionTool {
  readonly name: string;
  readonly parameters: ToolSchema;
  readonly strict: boolean;
  invoke(context: object, input: string): Promise<unknown>;
}

interface Agents {
  readonly MCPServerStdio: new (options: object) => { connect(): Promise<void>; close(): Promise<void> };
  readonly RunContext: new () => object;
  getAllMcpTools(options: object): Promise<FunctionTool[]>;
}

const notStrict = "not strict, because strict mode has no objects of any members; the schema stays as it is";

export const openOpenAi: OpenClient = async ({ command, args, env }) => {
  const agents = (await load("@openai/agents")) as Agents; // the package's documented exports
  const server = new agents.MCPServerStdio({ command, args, env, useStructuredContent: true });
  await server.connect();
  const options = { mcpServers: [server], convertSchemasToStrict: true, errorFunction: null };
  const tools = new Map((await agents.getAllMcpTools(options)).map((tool) => [tool.name, tool]));
  const find = (name: string) => {
    const tool = tools.get(name);
    if (!tool) {
      throw new Error("is not converted");
    }
    return tool;
  };
  return {
    convert({ name, inputSchema }) {
      const { parameters, strict } = find(name);
      if (!strict && !hasOpenObject(inputSchema)) {
        throw new Error("is not converted to strict mode");
      }
      return [{ schema: parameters, ...(strict ? {} : { note: notStrict }) }];
    },
    async call(tool) {
      const { parameters, strict, invoke } = find(tool.name);
      const input = strict ? withNulls(parameters, tool.arguments) : tool.arguments;
      const answer = await invoke(new agents.RunContext(), JSON.stringify(input));
      // A success is the structured content, as JSON; an error is the content.
      return typeof answer === "string" ? undefined : JSON.stringify(answer);
    },
    close: () => server.close(),
  };
};

function hasOpenObject(schema: unknown): boolean {
  return JSON.stringify(schema).includes('"additionalProperties":true');
}

/** As a model in strict mode sends it: with every property, null where it has no value. */
function withNulls(schema: ToolSchema, value: Arguments): Arguments {
  const names = Object.keys((schema.properties ?? {}) as object);
  return Object.fromEntries(names.map((name) => [name, value[name] ?? null]));
}
