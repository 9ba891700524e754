/** Measures how long a search takes over many passages. */
import { knowledgeBase } from "../../../tools/knowledge-base/index.ts";
import { quantile } from "../load.ts";
import { untilIngested } from "./evaluate.ts";
import type { Knowledge } from "./service.ts";
import { readSet } from "./set.ts";

const passagesPerDocument = 200;
const queries = 200;
const targetMs = 50;

/** Ingests generated documents with this many passages, and searches with the questions of the set. */
export async function measureSearch({ engine, app, call }: Knowledge, passages: number): Promise<void> {
  const { documents, questions } = await readSet("evaluation");
  const words = documents.flatMap(({ text }) => text.match(/[a-z]{3,}/gi) ?? []);
  const startedAt = performance.now();
  for (let start = 0; start < passages; start += passagesPerDocument) {
    const count = Math.min(passagesPerDocument, passages - start);
    const sections = Array.from({ length: count }, (_, index) => section(words, start + index));
    await call(knowledgeBase.add_document, {
      name: `Document ${start}`,
      source_type: "markdown",
      content: sections.join("\n\n"),
    });
  }
  await untilIngested(call);
  const { count } = await app.database.queries
    .selectFrom("knowledge_chunks")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  console.log(`${engine}: ${count} passages ingested in ${seconds(startedAt)} s`);
  const times: number[] = [];
  for (let index = 0; index < queries; index += 1) {
    const query = questions[index % questions.length]?.question ?? "";
    const begun = performance.now();
    await call(knowledgeBase.search_knowledge_base, { query, top_k: 5 });
    times.push(performance.now() - begun);
  }
  const [first = 0, ...rest] = times;
  const sorted = { times: rest.sort((one, other) => one - other) };
  console.log(
    `${engine}: first search ${first.toFixed(0)} ms (it reads the vectors), then p50 ${quantile(sorted, 0.5).toFixed(1)} ms, p95 ${quantile(sorted, 0.95).toFixed(1)} ms (target < ${targetMs})`,
  );
}

/** A heading and about 120 words; the same number gives the same text. */
function section(words: readonly string[], number: number): string {
  const text = Array.from(
    { length: 120 },
    (_, index) => words[(number * 7919 + index * index * 31) % words.length],
  );
  return `## Section ${number}\n\n${text.join(" ")}.`;
}

function seconds(startedAt: number): string {
  return ((performance.now() - startedAt) / 1_000).toFixed(1);
}
