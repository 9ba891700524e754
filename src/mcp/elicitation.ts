/**
 * Asks the user of a client whether a call may run (elicitation).
 *
 * Since revision 2026-07-28, the result of the call is the question, and the client repeats the call with the
 * answer. Clients of 2025 get a request during the call; that takes a connection that stays open, so over
 * HTTP they can't be asked.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  inputResponse,
  type McpRequestContext,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import {
  progressReporter,
  reportWaiting,
  type ToolCall,
  type UserAnswer,
  type UserQuestion,
} from "./tool-call/index.ts";

const questionKey = "confirm";
/** A form without fields: the client shows only the text, with accept and decline. */
const requestedSchema = { type: "object" as const, properties: {} };
/** For clients of 2025, whose call waits meanwhile. */
const answerTimeoutMs = 600_000;

type Request = ServerContext["mcpReq"];

/** The parts of a call by which its user is asked; none if the client does not declare that it can ask. */
export function elicitationOf(
  { era }: Pick<McpRequestContext, "era">,
  server: Server,
  request: Request,
): Pick<ToolCall, "askUser" | "answered"> {
  const { envelope, requestState } = request;
  const state = requestState();
  if (typeof state === "string") {
    return { answered: { state, answer: answerOf(request) } };
  }
  // The SDK has checked the envelope, but declares no members of it.
  const sent: Readonly<Record<string, ClientCapabilities | undefined>> = { ...envelope };
  const declared = era === "modern" ? sent[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities();
  const { elicitation } = declared ?? {};
  // A client that names no kind of question can show a form.
  const hasForm = elicitation && (elicitation.form !== undefined || elicitation.url === undefined);
  if (!hasForm) {
    return {};
  }
  return { askUser: era === "modern" ? askByResult : (question) => askByRequest(request, question) };
}

async function askByResult({ message, state }: UserQuestion) {
  const question = inputRequired.elicit({ message, requestedSchema });
  return inputRequired({ inputRequests: { [questionKey]: question }, requestState: state });
}

/** A client that fails to ask, or cancels the call meanwhile, has no answer of its user. */
async function askByRequest(request: Request, { message, state }: UserQuestion): Promise<UserAnswer> {
  const { send, signal } = request;
  using _ = reportWaiting(progressReporter(request), answerTimeoutMs);
  const params = { mode: "form", message, requestedSchema };
  const asked = send({ method: "elicitation/create", params }, { timeout: answerTimeoutMs, signal });
  const { action } = await asked.catch(() => ({ action: "cancel" as const }));
  return { state, answer: action };
}

function answerOf({ inputResponses }: Request): UserAnswer["answer"] {
  const response = inputResponse(inputResponses, questionKey);
  return response.kind === "elicit" ? response.action : "cancel";
}
