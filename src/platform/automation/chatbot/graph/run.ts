/**
 * Runs a graph for one message of a contact, with functions for what the graph needs. Changes nothing itself.
 *
 * From each node, the run follows the first edge whose condition is met, or else the edge without a
 * condition, until a node leads nowhere. A graph without a handoff node hands over when it has nothing to
 * say, because no answer is known.
 */
import { type Answer, answerGreeting, type Passage } from "../responders/index.ts";
import { isMet, type TurnFacts } from "./conditions.ts";
import type { ChatbotGraph, ChatbotNode, ChatbotNodeConfig, ChatbotNodeType } from "./graph.ts";

/** A run of more nodes has an endless cycle. */
export const maxChatbotSteps = 25;

/** How many passages an llm node searches if no retrieve node has searched. */
const defaultTopK = 10;

/** What the nodes need from the caller. */
export interface GraphPorts {
  /** The best passages for a message, best first. */
  retrieve(limit: number): Promise<readonly Passage[]>;
  /** Answers from the passages. */
  respond(passages: readonly Passage[], config: ChatbotNodeConfig<"llm">): Promise<Answer>;
}

export interface Handoff {
  /** Why a person is needed, as a code. */
  readonly reason: string;
  /** The text for the contact; null: the default text of the service. */
  readonly text: string | null;
  readonly team_id: string | null;
}

export interface GraphResult {
  /** The texts for the contact; empty only with a hand-off. */
  readonly texts: readonly string[];
  /** The id or name of the node that produced the texts. */
  readonly node: string;
  /** The answer of the last llm node; null if none ran. */
  readonly answer: Answer | null;
  /** What the last search found. */
  readonly passages: readonly Passage[];
  readonly handoff: Handoff | null;
}

interface State {
  readonly texts: readonly string[];
  readonly node: string | null;
  readonly answer: Answer | null;
  /** Null before the first search. */
  readonly passages: readonly Passage[] | null;
  readonly handoff: Handoff | null;
}

type Enter<Type extends ChatbotNodeType> = (
  node: Extract<ChatbotNode, { readonly type: Type }>,
  state: State,
  ports: GraphPorts,
) => Promise<State> | State;

const handlers: { readonly [Type in ChatbotNodeType]: Enter<Type> } = {
  async llm({ config, ...node }, state, ports) {
    const passages = state.passages ?? (await ports.retrieve(defaultTopK));
    const answer = await ports.respond(passages, config);
    const texts = answer.outcome === "answered" ? [...state.texts, answer.text] : state.texts;
    return { ...state, passages, answer, texts, node: labelOf(node) };
  },

  async retrieve({ config: { top_k, min_score } }, state, ports) {
    const found = await ports.retrieve(top_k);
    return { ...state, passages: found.filter(({ score }) => score >= min_score) };
  },

  condition: (_, state) => state,

  message: ({ config: { text }, ...node }, state) => ({
    ...state,
    texts: [...state.texts, text],
    node: labelOf(node),
  }),

  handoff: ({ config: { text = null, team_id = null }, ...node }, state) => ({
    ...state,
    node: labelOf(node),
    handoff: { reason: reasonOf(state), text, team_id },
  }),

  end: (_, state) => state,
};

export async function runGraph(
  graph: ChatbotGraph,
  message: string,
  ports: GraphPorts,
): Promise<GraphResult> {
  let state: State = { texts: [], node: null, answer: null, passages: null, handoff: null };
  let next: string | undefined = graph.entry_point;
  for (let steps = 0; next !== undefined; steps += 1) {
    const node = graph.nodes.find(({ id }) => id === next);
    if (!node) {
      break;
    }
    if (steps === maxChatbotSteps) {
      return finish({ ...state, handoff: { reason: "step_limit", text: null, team_id: null } }, graph);
    }
    // The table has the handler of this type; TypeScript does not connect the two.
    state = await (handlers[node.type] as Enter<ChatbotNodeType>)(node as never, state, ports);
    next = state.handoff ? undefined : follow(graph, node.id, factsOf(state, message));
  }
  const isSilent = state.handoff === null && state.texts.length === 0;
  const unknown = { reason: reasonOf(state), text: null, team_id: null };
  return finish(isSilent ? { ...state, handoff: unknown } : state, graph);
}

function finish({ passages, node, ...state }: State, graph: ChatbotGraph): GraphResult {
  return { ...state, passages: passages ?? [], node: node ?? graph.entry_point };
}

function follow(graph: ChatbotGraph, id: string, facts: TurnFacts): string | undefined {
  const edges = graph.edges.filter(({ source }) => source === id);
  const met = edges.find(({ condition }) => condition && isMet(condition, facts));
  return (met ?? edges.find(({ condition }) => condition === null))?.target;
}

function factsOf({ passages, answer }: State, message: string): TurnFacts {
  const scores = (passages ?? []).map(({ score }) => score);
  return {
    // A greeting is answered without a search, so it counts as found.
    found: (passages ?? []).some(({ isRelevant }) => isRelevant) || answerGreeting(message) !== undefined,
    answered: answer?.outcome === "answered",
    score: Math.max(0, ...scores),
    message,
  };
}

/** Why a person is needed. */
function reasonOf({ answer }: State): string {
  return answer === null || answer.outcome === "answered" ? "requested" : answer.reason;
}

function labelOf({ id, name }: { readonly id: string; readonly name?: string }): string {
  return name ?? id;
}
