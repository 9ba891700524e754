/** A language model behind `POST {base}/chat/completions`. */
import { z } from "zod";
import type {
  Completion,
  CompletionRequest,
  LanguageModel,
  ModelFailure,
  ModelFailureReason,
} from "../../../ports/models/language-model.ts";
import { type Refusal, unreadable } from "./answers.ts";
import { callEndpoint, type Delay, type EndpointSettings } from "./endpoint.ts";

/** Far more than the size of any answer: 4,096 tokens are about 20 kB. */
const maxAnswerBytes = 2_000_000;

const ChatAnswer = z.object({
  choices: z.array(
    z.object({
      finish_reason: z.string().nullish(),
      message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
    }),
  ),
  usage: z
    .object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) })
    .transform(({ prompt_tokens, completion_tokens }) => ({
      input_tokens: prompt_tokens,
      output_tokens: completion_tokens,
    }))
    .nullish()
    .catch(null),
});

/** Parameters that some models refuse. They are then replaced or left out. */
type Parameter = "max_tokens" | "temperature";

export function createLanguageModel(settings: EndpointSettings, wait?: Delay): LanguageModel {
  const endpoint = { ...settings, prefix: "TIDINGS_LLM", ...(wait ? { wait } : {}) } as const;
  // The parameters that this model has refused. They are not sent to it again.
  const refused = new Set<Parameter>();
  return {
    model: settings.model,
    async complete(request) {
      for (;;) {
        const body = writeBody(request, refused);
        const { signal } = request;
        const answer = await callEndpoint(endpoint, {
          path: "/chat/completions",
          body,
          maxAnswerBytes,
          signal,
        });
        if ("value" in answer) {
          return readCompletion(answer.value);
        }
        const parameter = findRefusedParameter(answer.refusal, body);
        if (parameter === undefined) {
          return answer.failure;
        }
        refused.add(parameter);
      }
    },
  };
}

function writeBody(
  { system, messages, maxOutputTokens }: CompletionRequest,
  refused: ReadonlySet<Parameter>,
) {
  return {
    messages: [{ role: "system", content: system }, ...messages],
    // Makes the model give the same answer to the same question, as far as it can.
    ...(refused.has("temperature") ? {} : { temperature: 0 }),
    // The parameter's name for newer models, which services other than OpenAI do not accept.
    ...(refused.has("max_tokens")
      ? { max_completion_tokens: maxOutputTokens }
      : { max_tokens: maxOutputTokens }),
  };
}

/**
 * The parameter that the service refused; undefined if it refused something else, or the parameter was not
 * sent.
 */
function findRefusedParameter(
  refusal: Refusal | undefined,
  body: Readonly<Record<string, unknown>>,
): Parameter | undefined {
  const isUnsupported = refusal?.code === "unsupported_parameter" || refusal?.code === "unsupported_value";
  const parameter = (["max_tokens", "temperature"] as const).find((name) => refusal?.param === name);
  return isUnsupported && parameter !== undefined && parameter in body ? parameter : undefined;
}

function readCompletion(value: unknown): Completion | ModelFailure {
  const parsed = ChatAnswer.safeParse(value);
  if (!parsed.success) {
    return unreadable("has an unknown form");
  }
  const { choices, usage } = parsed.data;
  const [choice] = choices;
  const content = choice?.message.content?.trim() ?? "";
  if (choice?.finish_reason === "length") {
    return fail("too_long", "The model's answer is longer than the request allows.");
  }
  if (choice?.finish_reason === "content_filter" || choice?.message.refusal) {
    return fail("rejected", "The model's service does not answer this content.");
  }
  return content === ""
    ? fail("empty", "The model's answer has no text.")
    : { outcome: "answered", text: content, usage: usage ?? null };
}

function fail(reason: ModelFailureReason, detail: string): ModelFailure {
  return { outcome: "failed", reason, detail, isRetryable: false };
}
