/** The graph of a chatbot: what it may contain, how it is read, and how it runs. */
export type { ChatbotGraph, NodeConfig } from "./graph.ts";
export { maxTopK } from "./node-types.ts";
export { graphField } from "./read.ts";
export { type GraphPorts, type GraphResult, type Handoff, maxSteps, runGraph } from "./run.ts";
export { showGraph } from "./show.ts";
export { readGraph } from "./validate.ts";
