/** An assistant: an MCP client of an app, with a key. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import type { OutputOf } from "../../tools/contract/index.ts";
import type { catalogue } from "../../tools/index.ts";
import type { TestApp } from "./app.ts";

type Catalogue = typeof catalogue;
/** The tools that only send_message's route has, and those with the name of their operation. */
type OperationOf<Name extends ToolName> = Name extends keyof Catalogue ? Name : "send_message";
type ToolName = keyof Catalogue | "send_template_message" | "send_media_message" | "send_interactive_message";
type Answer<Name extends ToolName> = OutputOf<Catalogue[OperationOf<Name>]>;

export async function connectAssistant(
  app: Pick<TestApp, "address">,
  key: string,
  options: ConstructorParameters<typeof Client>[1] = {},
) {
  const client = new Client({ name: "journey", version: "1.0.0" }, options);
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", app.address), { requestInit }));
  const calls: string[] = [];
  const callTool = (name: string, args: Record<string, unknown>) => {
    calls.push(name);
    return client.callTool({ name, arguments: args });
  };
  return {
    client,
    /** The names of the tools that were called. */
    calls,
    async call<Name extends ToolName>(name: Name, args: Record<string, unknown>): Promise<Answer<Name>> {
      const result = await callTool(name, args);
      expect(result.isError ?? false, JSON.stringify(result.content)).toBe(false);
      expect(JSON.parse((result.content as { text: string }[])[0]?.text ?? "")).toEqual(
        result.structuredContent,
      );
      // The output schema of the tool is that of its operation.
      return result.structuredContent as unknown as Answer<Name>;
    },
    /** The text of a call that must be rejected. */
    async expectRejection(name: string, args: Record<string, unknown>): Promise<string> {
      const result = await callTool(name, args);
      expect(result.isError).toBe(true);
      return (result.content as { text: string }[])[0]?.text ?? "";
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
