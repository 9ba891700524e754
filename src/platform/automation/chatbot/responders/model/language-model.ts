/**
 * Answers with a language model, only from passages. If anything is wrong with the model's answer, a person
 * takes over.
 */
import { randomBytes } from "node:crypto";
import type { CompletionRequest, LanguageModel } from "../../../../../ports/models/language-model.ts";
import type { Answer, Question } from "../answer.ts";
import { checkAnswer } from "./check.ts";
import { writePrompt } from "./prompt.ts";

export interface ModelOptions {
  readonly instructions: string | undefined;
  /** The most tokens of the answer. */
  readonly maxTokens: number;
  /**
   * Reserves tokens, the most that the answer may use; false: a limit would be exceeded, and the model is not
   * called.
   */
  readonly reserve?: (tokens: number) => Promise<boolean>;
  readonly signal: AbortSignal;
}

/** @throws the reason of `signal`. */
export async function respondWithModel(
  languageModel: LanguageModel,
  question: Question,
  { instructions, maxTokens, reserve, signal }: ModelOptions,
): Promise<Answer> {
  const { model } = languageModel;
  const { passages } = question;
  if (passages.length === 0) {
    return { outcome: "unknown", reason: "not_found", model, usage: null };
  }
  const marker = randomBytes(12).toString("hex");
  const prompt = writePrompt(question, { marker, instructions });
  const { system, messages } = prompt;
  if (reserve && !(await reserve(estimateInput(prompt) + maxTokens))) {
    return { outcome: "unknown", reason: "token_limit", model, usage: null };
  }
  const completion = await languageModel.complete({ system, messages, maxOutputTokens: maxTokens, signal });
  if (completion.outcome === "failed") {
    return { outcome: "unknown", reason: `model_${completion.reason}`, model, usage: null };
  }
  const { text, usage } = completion;
  const asked = [question.text, ...question.history.map((message) => message.text)].join("\n");
  const checked = await checkAnswer(text, { marker, prompt, asked, passages });
  return "reason" in checked
    ? { outcome: "unknown", reason: checked.reason, model, usage }
    : { outcome: "answered", ...checked, model, usage };
}

/** A token of English has about four bytes of UTF-8, and a token of other languages about three. */
const bytesPerToken = 3;

/** Rounds up: the estimate is a limit. */
function estimateInput({ system, messages }: Pick<CompletionRequest, "system" | "messages">): number {
  const bytes = [system, ...messages.map(({ content }) => content)].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0,
  );
  return Math.ceil(bytes / bytesPerToken);
}
