/** Responders: how a question is answered from passages, by quoting them or by a language model. */
import type { LanguageModel } from "../../../ports/language-model.ts";
import type { Answer, Question } from "./answer.ts";
import { type QuoteOptions, respondByQuoting } from "./extractive.ts";
import { type ModelOptions, respondWithModel } from "./language-model.ts";
import { cleanPassages } from "./neutralize.ts";

export type { Answer, HistoryMessage, Passage, Question } from "./answer.ts";
export { removeHidden } from "./neutralize.ts";
export { maxAnswer } from "./tokens.ts";

/** Answers with the model, or without one by quoting. @throws the reason of `signal`. */
export async function respond(
  languageModel: LanguageModel | undefined,
  question: Question,
  options: ModelOptions & QuoteOptions,
): Promise<Answer> {
  const clean = { ...question, passages: cleanPassages(question.passages) };
  return languageModel ? respondWithModel(languageModel, clean, options) : respondByQuoting(clean, options);
}
