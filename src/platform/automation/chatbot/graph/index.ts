/** The graph of a chatbot: what it may contain, how it is read, and how it runs. */
export type { ChatbotGraph, ChatbotNodeConfig } from "./graph.ts";
export { maxTopK } from "./node-types.ts";
export { graphField } from "./read.ts";
export { type GraphPorts, type GraphResult, type Handoff, maxChatbotSteps, runGraph } from "./run.ts";
export { showGraph } from "./show.ts";
export { readGraph } from "./validate.ts";
