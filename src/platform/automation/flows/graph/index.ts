/** The graph of a flow, without the behaviour of its nodes. */

export {
  failGraph,
  listNames,
  maxProblems,
  type Problem,
  parsePart,
  problemsOf,
  suggest,
} from "../../../foundation/problems.ts";
export { findSendingCycles } from "./cycles.ts";
export {
  awaitsButton,
  type Choice,
  choicesOf,
  type Graph,
  type GraphNode,
  isInteractive,
  toGraph,
} from "./graph.ts";
export { answerOf, type ContactReply, chosen, type Edge, nextNodes } from "./next.ts";
