/** The quotas of a knowledge base. */
import { expect, test } from "vitest";
import { knowledgeBase } from "../tools/knowledge-base/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";

const small = useTestApp({
  env: {
    TIDINGS_QUOTA_KNOWLEDGE_DOCUMENTS: "3",
    TIDINGS_QUOTA_KNOWLEDGE_CHUNKS: "2",
    TIDINGS_QUOTA_KNOWLEDGE_QA_PAIRS: "1",
  },
});
const create = (content: string) =>
  small.call(knowledgeBase.add_document, { name: "x", source_type: "markdown", content });

test("quotas of documents, of their passages together, and of QA pairs", async () => {
  const { data: first } = await create("# One\n\nText\n\n# Two\n\nText");
  const { data: second } = await create("Text");
  await create("Text");
  expect(await expectFailure(create("Text"))).toMatchObject({
    status: 422,
    code: "quota_exceeded",
    error: { setting: "TIDINGS_QUOTA_KNOWLEDGE_DOCUMENTS" },
  });
  await small.runDueJobs();
  const { data: ready } = await small.call(knowledgeBase.get_document, { id: first.id });
  expect(ready).toMatchObject({ status: "ready", chunk_count: 2 });
  const { data: failed } = await small.call(knowledgeBase.get_document, { id: second.id });
  expect(failed).toMatchObject({ status: "failed", failure_reason: "quota_exceeded" });
  await small.call(knowledgeBase.delete_document, { id: first.id });
  await small.call(knowledgeBase.refresh_document, { id: second.id });
  await small.runDueJobs();
  const { data: fits } = await small.call(knowledgeBase.get_document, { id: second.id });
  expect(fits.status).toBe("ready");
  const pair = () => small.call(knowledgeBase.add_qa_pair, { question: "a", answer: "b" });
  await pair();
  expect(await expectFailure(pair())).toMatchObject({ code: "quota_exceeded" });
});
