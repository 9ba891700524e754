/**
 * Crashes of ingestion, and vectors of other models: what is found is always one whole version of a document.
 */

import { expect, test } from "vitest";
import { searchKnowledge } from "../src/platform/content/knowledge-base/index.ts";
import { modules } from "../src/platform/index.ts";
import { knowledgeBase } from "../tools/knowledge-base/index.ts";
import { useTestApp } from "./support/app.ts";
import { type CrashTime, crashTransactions } from "./support/crashes.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });

const minute = 60_000;
const sections = 150;
const textOf = (version: string) =>
  Array.from(
    { length: sections },
    (_, number) => `# Part ${number}\n\nThe ${version} has detail ${number}.`,
  ).join("\n\n");

interface Crashes {
  /** Which transaction of the ingestion, from 0. */
  readonly at: number;
  readonly when: CrashTime;
}

/** Makes one transaction fail, until the returned function is called, which returns whether it did. */
async function crash({ at, when }: Crashes) {
  let count = 0;
  const restore = crashTransactions(await readWorld(app), { isCrash: () => count++ === at, when });
  return () => {
    restore();
    return count > at;
  };
}

async function versionsFound(id: string): Promise<string[]> {
  const { data } = await app.call(knowledgeBase.search_knowledge_base, { query: "detail", top_k: 50 });
  const contents = data.results.flatMap(({ document_id, content = "" }) =>
    document_id === id ? [content] : [],
  );
  return [...new Set(contents.map((content) => content.split(" ")[1] ?? ""))];
}

/** By words alone: by meaning, every passage is near. */
async function countByWord(query: string, limit = 50): Promise<number> {
  const world = await readWorld(app);
  const { id: organization } = await world.database.queries
    .selectFrom("organizations")
    .select("id")
    .orderBy("id")
    .executeTakeFirstOrThrow();
  const { signal } = new AbortController();
  const search = { organization, query, limit, signal, mode: "full_text" } as const;
  return (await searchKnowledge(world, search)).results.length;
}

async function countChunks(id: string): Promise<number> {
  const rows = app.server.database.queries.selectFrom("knowledge_chunks").select("position");
  return (await rows.where("document_id", "=", id).execute()).length;
}

test.each<Crashes>(
  [0, 1, 2, 3, 4].flatMap((at) => [
    { at, when: "before" as const },
    { at, when: "after" as const },
  ]),
)(
  "a crash $when the commit of transaction $at leaves the old text, then the new one",
  async ({ at, when }) => {
    const { data } = await app.call(knowledgeBase.add_document, {
      name: "Crash",
      source_type: "markdown" as const,
      content: textOf("oldest"),
    });
    await app.runDueJobs();
    await app.call(knowledgeBase.update_document, { id: data.id, content: textOf("newest") });
    const end = await crash({ at, when });
    await app.runDueJobs();
    expect(end()).toBe(true);
    const isPublished = at === 4 && when === "after";
    expect(await countByWord("newest")).toBe(isPublished ? 50 : 0);
    expect(await versionsFound(data.id)).toEqual([isPublished ? "newest" : "oldest"]);
    await app.advanceTime(10 * minute);
    const { data: document } = await app.call(knowledgeBase.get_document, { id: data.id });
    expect(document).toMatchObject({ status: "ready", chunk_count: sections, failure_reason: null });
    expect(await versionsFound(data.id)).toEqual(["newest"]);
    expect(await countChunks(data.id)).toBe(sections);
    await app.call(knowledgeBase.delete_document, { id: data.id });
    expect(await countChunks(data.id)).toBe(0);
  },
);

test("an unchanged or hardly changed source computes few vectors, and a new model computes all again", async () => {
  const world = await readWorld(app);
  const { embedder } = world;
  const texts: string[] = [];
  const count = (model: string) => ({
    ...embedder,
    model,
    embed: (batch: readonly string[], options: { readonly signal: AbortSignal }) => {
      texts.push(...batch);
      return embedder.embed(batch, options);
    },
  });
  const countTexts = async (work: () => Promise<unknown>) => {
    texts.length = 0;
    await work();
    await app.runDueJobs();
    return texts.length;
  };
  Object.assign(world, { embedder: count(embedder.model) });
  const content = textOf("heron");
  const { data } = await app.call(knowledgeBase.add_document, {
    name: "x",
    source_type: "markdown",
    content,
  });
  const { id } = data;
  expect(await countTexts(async () => {})).toBe(sections);
  expect(await countTexts(() => app.call(knowledgeBase.refresh_document, { id }))).toBe(0);
  const changed = content.replace("detail 7.", "detail seven.");
  expect(await countTexts(() => app.call(knowledgeBase.update_document, { id, content: changed }))).toBe(1);

  Object.assign(world, { embedder: count("another") });
  const { organization_id: organization } = await app.server.database.queries
    .selectFrom("knowledge_documents")
    .select("organization_id")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const { signal } = new AbortController();
  const byVectors = () =>
    searchKnowledge(world, { organization, query: "heron", limit: 5, signal, mode: "vectors" });
  expect((await byVectors()).results).toEqual([]);
  texts.length = 0;
  await app.advanceTime(11 * minute);
  expect(texts).toHaveLength(sections);
  expect((await byVectors()).results).toHaveLength(5);
  Object.assign(world, { embedder });
  await app.call(knowledgeBase.delete_document, { id });
});

test("a document that is deleted while its text can't be read ends its job", async () => {
  const world = await readWorld(app);
  const { documents } = world;
  const { data } = await app.call(knowledgeBase.add_document, {
    name: "Gone",
    source_type: "markdown" as const,
    content: textOf("gone"),
  });
  const read: typeof documents.read = async (...args) => {
    await app.call(knowledgeBase.delete_document, { id: data.id });
    return {
      ...(await documents.read(...args)),
      outcome: "unreadable",
      reason: "damaged",
      detail: "Damaged.",
    };
  };
  Object.assign(world, { documents: { ...documents, read } });
  await app.runDueJobs();
  Object.assign(world, { documents });
  const jobs = app.server.database.queries.selectFrom("jobs").select("id");
  expect(await jobs.where("name", "=", "knowledge.ingest").execute()).toEqual([]);
});

test("another organization's passages, which match better, take no place among the results", async () => {
  const { key } = await createOrganizationFor(app, "Other");
  const add = (content: string, options = {}) =>
    app.call(knowledgeBase.add_document, { name: "x", source_type: "markdown", content }, options);
  const theirs = await add("The kakapo sleeps by day.", { key });
  const { data } = await add("A kakapo is rare.");
  await app.runDueJobs();
  expect(await countByWord("kakapo sleeps by day", 1)).toBe(1);
  await app.call(knowledgeBase.delete_document, { id: data.id });
  expect(await countByWord("kakapo sleeps by day")).toBe(0);
  await app.call(knowledgeBase.delete_document, { id: theirs.data.id }, { key });
});

test("a model that fails leaves a document that is found by its words, until it answers again", async () => {
  const world = await readWorld(app);
  const { embedder } = world;
  const failure = { outcome: "failed", reason: "unavailable", detail: "x", isRetryable: true } as const;
  Object.assign(world, { embedder: { ...embedder, embed: async () => failure } });
  const content = "The platypus is up for sale.";
  const { data } = await app.call(knowledgeBase.add_document, {
    name: "x",
    source_type: "markdown",
    content,
  });
  await app.runDueJobs();
  const query = { query: "platypus", top_k: 1 };
  const { data: found } = await app.call(knowledgeBase.search_knowledge_base, query);
  expect(found.results).toMatchObject([{ document_id: data.id, content }]);
  Object.assign(world, { embedder });
  await app.advanceTime(2 * minute);
  const row = app.server.database.queries.selectFrom("knowledge_chunks").select("model");
  expect(await row.where("document_id", "=", data.id).execute()).toEqual([{ model: embedder.model }]);
  await app.call(knowledgeBase.delete_document, { id: data.id });
});
