/** The knowledge base: documents and QA pairs, and the search that the chatbot answers from. */
import { knowledgeBase as contract } from "../../../../tools/knowledge-base/index.ts";
import { implement } from "../../foundation/kernel/index.ts";
import {
  addDocument,
  deleteDocument,
  getDocument,
  listDocuments,
  refreshDocument,
  updateDocument,
} from "./documents.ts";
import { embedJob, embedMissingJob } from "./embed.ts";
import { ingestJob } from "./ingestion/index.ts";
import { addPair, deletePair, getPair, listPairs, updatePair } from "./pairs.ts";
import { searchKnowledge } from "./search/index.ts";

export { countKnowledge, type KnowledgeCount } from "./base.ts";
export {
  type FoundChunk,
  type FoundPair,
  type KnowledgeResult,
  type KnowledgeResults,
  type KnowledgeSearch,
  type QueryWord,
  searchKnowledge,
} from "./search/index.ts";

export const knowledgeBase = implement(contract, {
  tables: ["knowledge_bases", "knowledge_documents", "knowledge_chunks", "knowledge_qa_pairs"],
  operations: {
    add_document: (input, context) => addDocument(input, context),
    list_documents: (input, context) => listDocuments(input, context),
    get_document: async ({ id }, { db, organization }) => ({ data: await getDocument(db, organization, id) }),
    update_document: (input, context) => updateDocument(input, context),
    delete_document: ({ id }, context) => deleteDocument(id, context),
    refresh_document: ({ id }, context) => refreshDocument(id, context),

    add_qa_pair: (input, context) => addPair(input, context),
    list_qa_pairs: (input, context) => listPairs(input, context),
    get_qa_pair: async ({ id }, { db, organization }) => ({ data: await getPair(db, organization, id) }),
    update_qa_pair: (input, context) => updatePair(input, context),
    delete_qa_pair: ({ id }, context) => deletePair(id, context),

    async search_knowledge_base({ query, top_k: limit }, { world, organization, signal }) {
      const { results } = await searchKnowledge(world, { organization, query, limit, signal });
      const shown = results.map(({ isRelevant, ...result }) => ({ ...result, below_threshold: !isRelevant }));
      return { data: { results: shown } };
    },
  },
  jobs: [ingestJob, embedJob, embedMissingJob],
});
