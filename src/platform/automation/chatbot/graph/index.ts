/** The graph of a chatbot: its types, reading, validation and execution. */
export type { ChatbotGraph, NodeConfig } from "./graph.ts";
export { maxTopK } from "./node-types.ts";
export { graphField } from "./read.ts";
export { type GraphPorts, type GraphResult, type Handoff, maxSteps, runGraph } from "./run.ts";
export { showGraph } from "./show.ts";
export { readGraph } from "./validate.ts";
