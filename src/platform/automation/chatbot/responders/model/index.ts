/** Answers of a language model: the prompt, the call, and the check of what it wrote. */
export { type ModelOptions, respondWithModel } from "./language-model.ts";
