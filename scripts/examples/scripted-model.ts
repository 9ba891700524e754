/**
 * A language model by script, behind the API of OpenAI's chat completions: it answers the customers who wait,
 * by the tools that a bot offers.
 *
 * Each request has the whole conversation, so the script needs no state: the latest calls and their results
 * say what is next. Each framework writes results in a form of its own; `findData` finds the service's answer
 * in all of them.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { OutputOf, operations } from "../../src/client/package.ts";

export interface ScriptedModel extends AsyncDisposable {
  /** The base of the API's paths. */
  readonly url: string;
  /** The names of the tools that the latest request offered. */
  offered(): readonly string[];
}

interface ModelMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
}

interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

interface PlannedCall {
  readonly name: string;
  readonly args: object;
}

/** What a call of a tool has returned in the conversation. */
interface FinishedCall {
  readonly name: string;
  readonly data: unknown;
}

type DataOf<Name extends keyof typeof operations> = OutputOf<(typeof operations)[Name]>["data"];

export async function startScriptedModel(): Promise<ScriptedModel> {
  let offered: readonly string[] = [];
  const answer = async (request: IncomingMessage): Promise<string> => {
    assert.equal(request.url, "/v1/chat/completions");
    const { messages, tools = [] } = (await json(request)) as ModelRequest; // the frameworks follow the API
    offered = tools.map((tool) => tool.function.name);
    return JSON.stringify(complete(messages));
  };
  const server = createServer((request, response) => {
    const send = (status: number, body: string) =>
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    answer(request).then(
      (completion) => send(200, completion),
      // No client repeats a request after this status.
      (error) =>
        send(400, JSON.stringify({ error: { message: String(error), type: "invalid_request_error" } })),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  return {
    url: `http://127.0.0.1:${port}/v1`,
    offered: () => offered,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function complete(messages: readonly ModelMessage[]): object {
  const calls = planCalls(readCalls(messages));
  const message =
    calls.length > 0
      ? { content: null, tool_calls: calls.map((call, index) => toToolCall(call, messages.length, index)) }
      : { content: "No more customers wait for an answer that I can give." };
  return {
    // LangChain replaces a message by a later one with the same id.
    id: `chatcmpl-${messages.length}`,
    object: "chat.completion",
    created: 1,
    model: "scripted",
    choices: [
      {
        index: 0,
        finish_reason: calls.length > 0 ? "tool_calls" : "stop",
        message: { role: "assistant", ...message },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

function toToolCall({ name, args }: PlannedCall, turn: number, index: number): object {
  return {
    id: `call_${turn}_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  };
}

/** The calls that follow the finished ones; the names of the latest say which step is next. */
function planCalls(finished: readonly FinishedCall[]): readonly PlannedCall[] {
  const dataOf = (name: string) => finished.filter((call) => call.name === name).map(({ data }) => data);
  const contexts = dataOf("get_conversation_context") as DataOf<"get_conversation_context">[]; // by name
  const steps: Readonly<Record<string, () => readonly PlannedCall[]>> = {
    list_conversations() {
      const [conversations = []] = dataOf("list_conversations") as DataOf<"list_conversations">[]; // by name
      return conversations.map(({ id }) => ({ name: "get_conversation_context", args: { id } }));
    },
    get_conversation_context: () =>
      contexts.map(({ messages }) => ({
        name: "search_knowledge_base",
        args: { query: messages.findLast(({ direction }) => direction === "inbound")?.text?.body ?? "" },
      })),
    search_knowledge_base() {
      const found = dataOf("search_knowledge_base") as DataOf<"search_knowledge_base">[]; // by name
      return found.flatMap(({ results: [best] }, index) =>
        best?.type === "qa_pair" && !best.below_threshold
          ? [{ name: "send_message", args: { to: contexts[index]?.conversation.id, body: best.answer } }]
          : [],
      );
    },
    send_message: () => [],
  };
  const first: PlannedCall = { name: "list_conversations", args: { filter: "unanswered", sort: "waiting" } };
  const latest = finished.at(-1);
  return latest ? (steps[latest.name]?.() ?? []) : [first];
}

function readCalls(messages: readonly ModelMessage[]): FinishedCall[] {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls);
  return calls.map(({ id, function: { name } }) => {
    const result = messages.find(({ tool_call_id }) => tool_call_id === id);
    const data = findData(result?.content);
    assert(data !== undefined, `${name} returned ${JSON.stringify(result)}`);
    return { name, data };
  });
}

/** The `data` of the service's answer, which may be within texts of JSON. */
function findData(value: unknown): unknown {
  if (typeof value === "string") {
    // OpenAI Agents joins the answer and the text about what customers wrote.
    const [answer = ""] = value.split(/(?<=\})\s*Untrusted: /);
    return /^[[{]/.test(answer) ? findData(JSON.parse(answer)) : undefined;
  }
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  if ("data" in value) {
    return value.data;
  }
  return Object.values(value)
    .map(findData)
    .find((data) => data !== undefined);
}
