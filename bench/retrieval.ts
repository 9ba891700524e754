/**
 * Retrieval and answers on a set of documents and questions that was written before the code (`retrieval-set/`).
 *
 * It prints recall@5 by kind of question for full text, vectors and both, and the share of right, declined and wrong answers
 * of the chatbot. `--misses` lists the questions that the hybrid search misses. `--chunks 10000` measures instead how long a
 * search takes over that many passages, on both engines (S8). `--pages 300` measures the ingestion of such a PDF, and what
 * other requests take meanwhile.
 */
import { parseArgs } from "node:util";
import { evaluateAnswers, evaluateRetrieval } from "./support/retrieval/evaluate.ts";
import { measureIngestion } from "./support/retrieval/ingestion.ts";
import { measureSearch } from "./support/retrieval/search.ts";
import { withKnowledge } from "./support/retrieval/service.ts";

const { values: options } = parseArgs({
  options: {
    chunks: { type: "string" },
    pages: { type: "string" },
    misses: { type: "boolean", default: false },
  },
});

if (options.chunks !== undefined) {
  for (const engine of ["embedded", "postgres"] as const) {
    await withKnowledge(engine, (knowledge) => measureSearch(knowledge, Number(options.chunks)));
  }
} else if (options.pages !== undefined) {
  await withKnowledge("embedded", (knowledge) => measureIngestion(knowledge, Number(options.pages)));
} else {
  await withKnowledge("embedded", async (knowledge) => {
    await evaluateRetrieval(knowledge, { showsMisses: options.misses });
    await evaluateAnswers(knowledge);
  });
}
