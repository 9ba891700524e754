/** An assistant: an MCP client of an app, with a key. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import type { TestApp } from "./app.ts";

interface Answer {
  // The tests check the fields of each result.
  // biome-ignore lint/suspicious/noExplicitAny: one type for every tool's result
  readonly data: any;
}

export async function connectAssistant(
  app: TestApp,
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
    async call(name: string, args: Record<string, unknown>): Promise<Answer> {
      const result = await callTool(name, args);
      expect(result.isError ?? false, JSON.stringify(result.content)).toBe(false);
      expect(JSON.parse((result.content as { text: string }[])[0]?.text ?? "")).toEqual(
        result.structuredContent,
      );
      return result.structuredContent as unknown as Answer;
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
