/** Composes the bot's reply to a message. Called outside any transaction; it stores and sends nothing. */
import type { TurnSource } from "../../../database/schema/index.ts";
import type { TokenUsage } from "../../../ports/models/language-model.ts";
import { cutText } from "../../../texts/cut.ts";
import {
  type KnowledgeResults,
  type QueryWord,
  searchKnowledge,
} from "../../content/knowledge-base/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { type ConfigRow, graphOf } from "./config.ts";
import { type GraphResult, maxTopK, runGraph } from "./graph/index.ts";
import { type HistoryMessage, maxAnswer, type Passage, respond } from "./responders/index.ts";
import { countUsed, reserveTokens, sumUsages } from "./usage.ts";

/** What is sent to a contact if the graph has no text of its own. */
const handoffText = "I can't answer that. A person will get back to you.";

export interface ReplyRequest {
  readonly organization: string;
  /** The turn that the reply is for. */
  readonly turn_id: string;
  readonly config: ConfigRow;
  readonly question: string;
  /** Oldest first. */
  readonly history: readonly HistoryMessage[];
  readonly signal: AbortSignal;
}

export interface Reply {
  readonly text: string;
  readonly agent_used: string;
  readonly sources: readonly TurnSource[];
  /** All passages that the search found. */
  readonly found: readonly TurnSource[];
  /** Null: no person is needed. */
  readonly handoff: { readonly reason: string; readonly team_id: string | null } | null;
  readonly model: string | null;
  /** Of all nodes; null: no model has answered. */
  readonly usage: TokenUsage | null;
}

/** @throws the reason of `signal`. */
export async function composeReply(world: World, request: ReplyRequest): Promise<Reply> {
  const { organization, turn_id, config, question, history, signal } = request;
  const { embedder, languageModel } = world;
  let terms: readonly QueryWord[] = [];
  // All nodes search for the same question: one search finds the most passages that a node takes.
  let search: Promise<KnowledgeResults> | undefined;
  const usages: TokenUsage[] = [];
  const result = await runGraph(graphOf(config), question, {
    async retrieve(limit) {
      search ??= searchKnowledge(world, { organization, query: question, limit: maxTopK, signal });
      const found = await search;
      terms = found.terms;
      return found.results.slice(0, limit);
    },
    async respond(passages, { instructions, max_tokens: maxTokens }) {
      const turn = { organization_id: organization, id: turn_id };
      // What earlier nodes have used is recorded with the reply.
      const reserve = (tokens: number) => reserveTokens(world, turn, countUsed(usages) + tokens);
      const answer = await respond(
        languageModel,
        { text: question, history, passages, terms },
        { instructions, maxTokens, reserve, embedder, signal },
      );
      usages.push(...(answer.usage ? [answer.usage] : []));
      return answer;
    },
  });
  const { answer, handoff, passages, texts } = result;
  const said = handoff ? [...texts, handoff.text ?? handoffText] : texts;
  return {
    text: cutText(said.join("\n\n"), maxAnswer),
    agent_used: describeAgent(result),
    sources: answer?.outcome === "answered" ? answer.sources.map(toSource) : [],
    found: passages.map(toSource),
    handoff: handoff && { reason: handoff.reason, team_id: handoff.team_id },
    model: answer?.model ?? null,
    usage: sumUsages(usages),
  };
}

/** Marks a quoted answer, so that it is not taken for an answer of a model. */
function describeAgent({ node, answer }: GraphResult): string {
  return answer && answer.model === null ? `${node} (extractive)` : node;
}

function toSource(passage: Passage): TurnSource {
  const below_threshold = !passage.isRelevant;
  const none = { document_id: null, document_name: null, heading: null, page: null, chunk: null };
  if (passage.type === "qa_pair") {
    return { ...none, type: "qa_pair", question: passage.question, below_threshold };
  }
  const { document_id, document_name, heading, page, chunk } = passage;
  const place = { document_id, document_name, heading, page, chunk };
  return { ...place, type: "chunk", question: null, below_threshold };
}
