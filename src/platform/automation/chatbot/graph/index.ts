/** The graph of a chatbot: its types, reading, validation and execution. */
export type { ChatbotGraph, ChatbotNodeConfig } from "./graph.ts";
export { maxTopK } from "./node-types.ts";
export { graphField } from "./read.ts";
export { type GraphPorts, type GraphResult, type Handoff, maxChatbotSteps, runGraph } from "./run.ts";
export { showGraph } from "./show.ts";
export { readGraph } from "./validate.ts";
