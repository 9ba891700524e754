/** For how long an organization's documents are read in an hour. */
import { expect, test } from "vitest";
import { knowledgeBase } from "../tools/knowledge-base/index.ts";
import { useTestApp } from "./support/app.ts";
import { createOrganizationFor } from "./support/operator.ts";

const startsAt = new Date("2027-06-01T09:00:00Z");
const app = useTestApp({ startsAt, env: { TIDINGS_QUOTA_KNOWLEDGE_READING_SECONDS: "1" } });

const [minute, hour] = [60_000, 3_600_000];

async function add(content: string, key?: string) {
  const input = { name: "x", source_type: "markdown", content } as const;
  const { data } = await app.call(knowledgeBase.add_document, input, key === undefined ? {} : { key });
  return data.id;
}

const get = async (id: string, key?: string) =>
  (await app.call(knowledgeBase.get_document, { id }, key === undefined ? {} : { key })).data;

test("a document that takes too long uses up its organization's hour, and no other organization's", async () => {
  const hostile = await add("*a_ ".repeat(100_000));
  await app.runDueJobs();
  expect(await get(hostile)).toMatchObject({ status: "failed", failure_reason: "too_complex" });
  const { key } = await createOrganizationFor(app, "Other");
  const [late, other] = [await add("Hello"), await add("Hello", key)];
  await app.runDueJobs();
  expect(await get(other, key)).toMatchObject({ status: "ready" });
  expect(await get(late)).toMatchObject({
    status: "failed",
    failure_reason: "quota_exceeded",
    failure_detail:
      "The organization's documents may be read for 1 seconds in an hour, and they were. Refresh the document after 2027-06-01T10:00:00.000Z, or ask the operator for a higher limit (knowledge_reading_seconds).",
  });
  await app.advanceTime(hour - minute);
  await app.call(knowledgeBase.refresh_document, { id: late });
  await app.runDueJobs();
  expect(await get(late)).toMatchObject({ failure_reason: "quota_exceeded" });
  await app.advanceTime(minute);
  await app.call(knowledgeBase.refresh_document, { id: late });
  await app.runDueJobs();
  expect(await get(late)).toMatchObject({ status: "ready", failure_reason: null });
});
