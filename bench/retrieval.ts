/**
 * Retrieval and answers on a set of documents and questions.
 *
 * The set (`retrieval-set/`) was written before the code. The benchmark prints recall@5 by kind of question
 * for full text, vectors and both, and the share of right, declined and wrong answers of the chatbot. `--set
 * development` uses the set with which the rules are calibrated (`retrieval-set-development/`), and
 * `--misses` lists the questions that are not found or not answered. `--chunks 10000` measures instead how
 * long a search takes over that many passages, on both engines (S8). `--pages 300` measures the ingestion of
 * a PDF of that length, and the time of other requests meanwhile.
 */
import { parseArgs } from "node:util";
import { evaluateAnswers, evaluateRetrieval } from "./support/retrieval/evaluate.ts";
import { measureIngestion } from "./support/retrieval/ingestion.ts";
import { measureSearch } from "./support/retrieval/search.ts";
import { withKnowledge } from "./support/retrieval/service.ts";
import { readSet } from "./support/retrieval/set.ts";

const { values: options } = parseArgs({
  options: {
    chunks: { type: "string" },
    pages: { type: "string" },
    set: { type: "string", default: "evaluation" },
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
  const set = await readSet(options.set === "development" ? "development" : "evaluation");
  await withKnowledge("embedded", async (knowledge) => {
    await evaluateRetrieval(knowledge, { set, showsMisses: options.misses });
    await evaluateAnswers(knowledge, { set, showsMisses: options.misses });
  });
}
