/**
 * A scripted service with the API of OpenAI: it records requests, and answers what a test sets,
 * else a fitting answer.
 *
 * An embedding is made of the letters of its text, so that equal texts have equal vectors.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { listenerOf } from "./receiver.ts";

export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  /** A body that is a form, as it was sent. */
  readonly form: string;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is a string. */
  readonly body?: unknown;
}

/** hang: no answer. stall: a part of a body. drop: the connection breaks. */
export type ScriptedFault = "hang" | "stall" | "drop";

export async function startModelService() {
  const requests: RecordedRequest[] = [];
  const script: (ScriptedAnswer | ScriptedFault)[] = [];
  const answerRequest = listenerOf(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString();
    const isForm = request.headers["content-type"]?.startsWith("multipart/") ?? false;
    const recorded = {
      path: request.url ?? "",
      headers: request.headers,
      body: text === "" || isForm ? {} : JSON.parse(text),
      form: isForm ? text : "",
    };
    requests.push(recorded);
    respond(response, script.shift() ?? { body: answerTo(recorded) });
  });
  const server = createServer(answerRequest);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    /** The next requests get these answers, one each. */
    answerNext(...answers: (ScriptedAnswer | ScriptedFault)[]) {
      script.push(...answers);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type ModelService = Awaited<ReturnType<typeof startModelService>>;

/** The answer of a chat model. */
export function chatAnswer(content: string | null, finish_reason = "stop") {
  return {
    object: "chat.completion",
    choices: [{ index: 0, finish_reason, message: { role: "assistant", content } }],
    usage: { prompt_tokens: 21, completion_tokens: 7, total_tokens: 28 },
  };
}

/** An error in the form of OpenAI. */
export function errorAnswer(status: number, error: Readonly<Record<string, unknown>>): ScriptedAnswer {
  return { status, body: { error: { message: "It went wrong.", type: "invalid_request_error", ...error } } };
}

function answerTo({ path, body }: RecordedRequest): unknown {
  if (path.endsWith("/embeddings")) {
    const texts = [body.input].flat().map(String);
    const data = texts.map((text, index) => ({ object: "embedding", index, embedding: spell(text) }));
    return { object: "list", data: data.reverse(), model: body.model };
  }
  if (path.endsWith("/transcriptions")) {
    return { text: " The scripted transcript.\n" };
  }
  return chatAnswer("The scripted answer.");
}

/** How often each letter occurs. */
function spell(text: string): number[] {
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
  return [1, ...letters.map((letter) => text.toLowerCase().split(letter).length - 1)];
}

function respond(response: ServerResponse, answer: ScriptedAnswer | ScriptedFault): void {
  if (answer === "drop") {
    response.destroy();
  } else if (answer === "stall") {
    response.writeHead(200, { "content-type": "application/json" }).write('{"choices":');
  } else if (answer !== "hang") {
    const { status = 200, headers = {}, body = "" } = answer;
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(typeof body === "string" ? body : JSON.stringify(body));
  }
}
