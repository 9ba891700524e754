/** MCP clients that ask their user whether a call may run, and what they were asked. */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { TestApp } from "./app.ts";
import { clientInfo, stdioProgram } from "./mcp-clients.ts";

export interface ToolAnswer {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
}

type Action = "accept" | "decline" | "cancel";

/** A connected client, whose user gives the next answer. */
export interface AskingClient extends AsyncDisposable {
  /** The questions so far. */
  readonly questions: string[];
  answer: Action;
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
}

const capabilities = { elicitation: { form: {} } };
const pinned = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

function toAsking(client: ClientV2 | ClientV1, questions: string[], state: { answer: Action }): AskingClient {
  return {
    questions,
    get answer() {
      return state.answer;
    },
    set answer(next) {
      state.answer = next;
    },
    call: async (name, args) =>
      (await client.callTool({ name, arguments: { ...args } })) as unknown as ToolAnswer,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function connectV2(transport: HttpV2 | StdioV2, options: object): Promise<AskingClient> {
  const questions: string[] = [];
  const state = { answer: "accept" as Action };
  const client = new ClientV2(clientInfo, { capabilities, ...options });
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    questions.push(params.message);
    return state.answer === "accept" ? { action: "accept", content: {} } : { action: state.answer };
  });
  await client.connect(transport);
  return toAsking(client, questions, state);
}

async function connectV1(transport: StdioV1): Promise<AskingClient> {
  const questions: string[] = [];
  const state = { answer: "accept" as Action };
  const client = new ClientV1(clientInfo, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    questions.push(params.message);
    return state.answer === "accept" ? { action: "accept", content: {} } : { action: state.answer };
  });
  await client.connect(transport);
  return toAsking(client, questions, state);
}

function overHttp({ address }: TestApp, key: string): HttpV2 {
  return new HttpV2(new URL("/mcp", address), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
}

const program = ({ address }: TestApp, key: string) => stdioProgram({ url: address }, key);

/** The clients that can ask their user, by revision and transport. */
export const askingClients = [
  ["v2, 2026-07-28, HTTP", (app: TestApp, key: string) => connectV2(overHttp(app, key), pinned)],
  ["v2, 2026-07-28, stdio", (app: TestApp, key: string) => connectV2(new StdioV2(program(app, key)), pinned)],
  ["v2, 2025 handshake, stdio", (app: TestApp, key: string) => connectV2(new StdioV2(program(app, key)), {})],
  ["v1, stdio", (app: TestApp, key: string) => connectV1(new StdioV1(program(app, key)))],
] as const;

interface SentCall {
  readonly name: string;
  readonly arguments: object;
  readonly inputResponses?: object;
  readonly requestState?: string;
}

/** A client of 2026-07-28 over HTTP, whose user is not asked: the test answers as it likes. */
export async function connectManual(app: TestApp, key: string) {
  const client = new ClientV2(clientInfo, { capabilities, ...pinned });
  await client.connect(overHttp(app, key));
  const request = async (params: SentCall) =>
    client.request({ method: "tools/call", params: { ...params } }, { allowInputRequired: true });
  return {
    request,
    /** The state of the question that a call gets. */
    async ask(params: { readonly name: string; readonly arguments: object }): Promise<string> {
      const { requestState } = (await request(params)) as { requestState?: string };
      return requestState ?? "";
    },
    /** The text of the result of a call with an answer. */
    async accept(params: { readonly name: string; readonly arguments: object }, requestState: string) {
      const inputResponses = { confirm: { action: "accept", content: {} } };
      const result = (await request({ ...params, inputResponses, requestState })) as unknown as ToolAnswer;
      return { isError: result.isError ?? false, text: result.content[0]?.text ?? "" };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
