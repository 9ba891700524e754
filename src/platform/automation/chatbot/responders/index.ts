/** Responders: how a question is answered from passages, by quoting them or by a language model. */
import type { LanguageModel } from "../../../../ports/models/language-model.ts";
import type { Answer, Question } from "./answer.ts";
import { findSameQuestion, type QuoteOptions, respondByQuoting } from "./extractive/index.ts";
import { answerGreeting } from "./greetings.ts";
import { type ModelOptions, respondWithModel } from "./model/index.ts";
import { cleanPassages } from "./neutralize.ts";

export type { Answer, HistoryMessage, Passage, Question } from "./answer.ts";
export { answerGreeting } from "./greetings.ts";
export { removeHidden } from "./neutralize.ts";
export { maxAnswer } from "./tokens.ts";

/**
 * Answers with the model, or by quoting if there is no model. A greeting gets a greeting.
 * @throws the reason of `signal`.
 */
export async function respond(
  languageModel: LanguageModel | undefined,
  question: Question,
  options: ModelOptions & QuoteOptions,
): Promise<Answer> {
  const clean = { ...question, passages: await cleanPassages(question.passages) };
  const greeting = answerGreeting(question.text);
  if (greeting !== undefined) {
    // The business may have its own answer to a greeting.
    const pair = findSameQuestion(clean.passages);
    const said = pair ? { text: pair.answer, sources: [pair] } : { text: greeting, sources: [] };
    return { outcome: "answered", ...said, model: languageModel?.model ?? null, usage: null };
  }
  return languageModel ? respondWithModel(languageModel, clean, options) : respondByQuoting(clean, options);
}
