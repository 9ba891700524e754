/** Models with the API of OpenAI, which Ollama, llama.cpp, vLLM and others also offer. */
export { createEmbedder, type EmbedderSettings } from "./embedder.ts";
export type { Delay, EndpointSettings } from "./endpoint.ts";
export { createLanguageModel } from "./language-model.ts";
export { createTranscriber } from "./transcriber.ts";
