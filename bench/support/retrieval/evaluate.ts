/** Measures the search and the chatbot with a set of questions. */
import { searchKnowledge } from "../../../src/platform/content/knowledge-base/index.ts";
import { startReceiver } from "../../../test/support/receiver.ts";
import { chatbot } from "../../../tools/chatbot.ts";
import { knowledgeBase } from "../../../tools/knowledge-base/index.ts";
import { messages } from "../../../tools/messages/index.ts";
import { toPdf } from "../pdf.ts";
import type { Knowledge } from "./service.ts";
import { type Kind, kinds, type Question, type QuestionSet, type SetDocument } from "./set.ts";

const top = 5;

interface Evaluation {
  readonly set: QuestionSet;
  readonly showsMisses: boolean;
}

/** Ingests the set, and prints recall@5 for each kind of search. */
export async function evaluateRetrieval(
  knowledge: Knowledge,
  { set, showsMisses }: Evaluation,
): Promise<void> {
  await ingest(knowledge, set);
  const answerable = set.questions.filter(({ answers }) => answers.length > 0);
  console.log(
    `${set.documents.length} documents, ${set.pairs.length} QA pairs, ${answerable.length} questions`,
  );
  for (const mode of ["full_text", "vectors", "hybrid"] as const) {
    const hits = new Map<Kind, boolean[]>();
    for (const question of answerable) {
      const { results } = await searchKnowledge(knowledge.world, {
        organization: knowledge.organization,
        query: question.question,
        limit: top,
        mode,
        signal: AbortSignal.timeout(30_000),
      });
      const isHit = results.some((result) => isRight(set, question, result));
      hits.set(question.kind, [...(hits.get(question.kind) ?? []), isHit]);
      if (showsMisses && mode === "hybrid" && !isHit) {
        console.log(`  missed ${question.id}: ${question.question}`);
      }
    }
    const all = [...hits.values()].flat();
    const byKind = kinds.flatMap((kind) =>
      hits.has(kind) ? [`${kind} ${share(hits.get(kind) ?? [])}`] : [],
    );
    console.log(`recall@${top} ${mode.padEnd(9)} ${share(all)} (${byKind.join(", ")})`);
  }
}

type FoundResult = Awaited<ReturnType<typeof searchKnowledge>>["results"][number];

export function isRight(set: QuestionSet, { answers }: Question, found: FoundResult): boolean {
  return answers.some((answer) => {
    if ("qa" in answer) {
      return (
        found.type === "qa_pair" && found.question === set.pairs.find(({ id }) => id === answer.qa)?.question
      );
    }
    return (
      found.type === "chunk" &&
      found.document_name === answer.document &&
      answer.contains.every((text) => collapse(found.content).includes(collapse(text)))
    );
  });
}

function collapse(text: string): string {
  return text
    .replace(/[|*_`\s]+/g, " ")
    .trim()
    .toLowerCase();
}

type Outcome = "right" | "wrong" | "declined";

/** Prints how many answers of the chatbot are right, wrong and declined, by kind. */
export async function evaluateAnswers({ call }: Knowledge, { set, showsMisses }: Evaluation): Promise<void> {
  const graph_definition = { entry_point: "main", nodes: [{ id: "main", type: "llm" }], edges: [] };
  await call(chatbot.configure_chatbot, { graph_definition });
  const { data: message } = await call(messages.send_message, {
    to: "+14155550100",
    type: "text",
    text: { body: "Hello" },
  });
  const outcomes: { readonly kind: Kind; readonly outcome: Outcome }[] = [];
  for (const { id, question, kind, expected } of set.questions) {
    const { data } = await call(chatbot.chat_with_bot, {
      conversation_id: message.conversation_id,
      message: question,
    });
    const response = data.response.trim();
    const isRight = expected.some((pattern) => new RegExp(pattern, "i").test(response));
    const outcome = data.would_hand_off ? "declined" : isRight ? "right" : "wrong";
    outcomes.push({ kind, outcome });
    if (showsMisses && outcome !== (kind === "unanswerable" ? "declined" : "right")) {
      console.log(
        `  ${outcome} ${id}: ${question}${data.would_hand_off ? "" : ` -> ${response.slice(0, 200)}`}`,
      );
    }
  }
  const count = (outcome: Outcome, among: readonly Kind[] = kinds) =>
    outcomes.filter((one) => one.outcome === outcome && among.includes(one.kind)).length;
  for (const kind of kinds) {
    console.log(
      `answers ${kind.padEnd(12)} ${count("right", [kind])} right, ${count("wrong", [kind])} wrong, ${count("declined", [kind])} declined`,
    );
  }
  const [right, wrong] = [count("right"), count("wrong")];
  console.log(`given answers: ${right + wrong}, of which wrong ${percent(wrong / (right + wrong))}`);
}

/** Ingests Markdown as content, and pages and PDF files by their addresses. */
export async function ingest({ call }: Knowledge, set: QuestionSet): Promise<void> {
  await using server = await startReceiver((request, response) => {
    const document = set.documents.find(({ name }) => request.url === `/${name}`);
    response.setHeader("content-type", request.url?.endsWith(".txt") ? "application/pdf" : "text/html");
    response.end(document && (document.name.endsWith(".txt") ? toPdf(document.text) : document.text));
  });
  const source = ({ name, text }: SetDocument) =>
    name.endsWith(".md")
      ? ({ source_type: "markdown", content: text } as const)
      : ({
          source_type: name.endsWith(".txt") ? "pdf" : "url",
          source_url: `http://127.0.0.1:${server.port}/${name}`,
        } as const);
  for (const document of set.documents) {
    await call(knowledgeBase.add_document, { name: document.name, ...source(document) });
  }
  for (const { id: _, ...pair } of set.pairs) {
    await call(knowledgeBase.add_qa_pair, pair);
  }
  await untilIngested(call);
}

/** @throws if a document failed. */
export async function untilIngested(call: Knowledge["call"]): Promise<void> {
  for (;;) {
    const { data } = await call(knowledgeBase.list_documents, { per_page: 100 });
    const failed = data.find(({ status }) => status === "failed");
    if (failed) {
      throw new Error(`${failed.name}: ${failed.failure_reason}`);
    }
    if (data.every(({ status }) => status === "ready")) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function share(hits: readonly boolean[]): string {
  const count = hits.filter(Boolean).length;
  return `${count}/${hits.length} = ${percent(count / hits.length)}`;
}

function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}
