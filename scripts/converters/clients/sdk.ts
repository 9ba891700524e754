/** The client of the MCP SDK, which some packages expect of their users. */
import { type Arguments, type CallResult, load, type ServerCommand } from "./client.ts";

export interface SdkClient {
  listTools(): Promise<{
    readonly tools: readonly { readonly name: string; readonly inputSchema: object }[];
  }>;
  callTool(call: { readonly name: string; readonly arguments: Arguments }): Promise<CallResult>;
  close(): Promise<void>;
}

interface Sdk {
  readonly Client: new (info: object) => SdkClient & { connect(transport: object): Promise<void> };
}

interface SdkStdio {
  readonly StdioClientTransport: new (command: ServerCommand) => object;
}

export async function connectSdk(server: ServerCommand): Promise<SdkClient> {
  const { Client } = (await load("@modelcontextprotocol/sdk/client/index.js")) as Sdk; // the SDK's documented exports
  const stdio = (await load("@modelcontextprotocol/sdk/client/stdio.js")) as SdkStdio; // the same
  const client = new Client({ name: "converters", version: "1.0.0" });
  await client.connect(new stdio.StdioClientTransport(server));
  return client;
}
