/** The ingestion of a long PDF file: its time, its memory, and the time of other requests meanwhile. */
import { meanwhile } from "../../../test/support/meanwhile.ts";
import { startReceiver } from "../../../test/support/receiver.ts";
import { contacts } from "../../../tools/contacts.ts";
import { knowledgeBase } from "../../../tools/knowledge-base/index.ts";
import { quantile } from "../load.ts";
import { toPdf } from "../pdf.ts";
import { untilIngested } from "./evaluate.ts";
import type { Knowledge } from "./service.ts";
import { readSet } from "./set.ts";

const linesPerPage = 50;

export async function measureIngestion({ call }: Knowledge, pages: number): Promise<void> {
  const { documents } = await readSet("evaluation");
  const lines = documents.flatMap(({ text }) => text.match(/[^\n]{20,85}/g) ?? []);
  const page = (number: number) =>
    Array.from({ length: linesPerPage }, (_, index) => lines[(number * 13 + index * 7) % lines.length]).join(
      "\n",
    );
  const file = toPdf(Array.from({ length: pages }, (_, index) => page(index)).join("\f"));
  await using server = await startReceiver((_, response) => {
    response.setHeader("content-type", "application/pdf");
    response.end(file);
  });
  const idle = await measureRequests(call, Promise.resolve(), 100);
  const memoryBefore = process.memoryUsage.rss();
  let peak = memoryBefore;
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 20);
  const startedAt = performance.now();
  await call(knowledgeBase.add_document, {
    name: "Long",
    source_type: "pdf",
    source_url: `http://127.0.0.1:${server.port}/long.pdf`,
  });
  const ingested = untilIngested(call);
  const busy = await measureRequests(call, ingested);
  clearInterval(sampling);
  const { data } = await call(knowledgeBase.list_documents, {});
  const mb = (bytes: number) => (bytes / 1_048_576).toFixed(0);
  console.log(
    `${data[0]?.pages} pages, ${mb(file.length)} MB, ${data[0]?.chunk_count} passages in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s; memory ${mb(memoryBefore)} MB, at most ${mb(peak)} MB`,
  );
  const show = (times: readonly number[]) =>
    `p50 ${quantile({ times }, 0.5).toFixed(1)}, p95 ${quantile({ times }, 0.95).toFixed(1)}, most ${quantile({ times }, 1).toFixed(1)} ms`;
  console.log(`list_contacts alone: ${show(idle)}; meanwhile: ${show(busy)}`);
}

/** Sends one request after another until `end`, at least `count` requests. */
async function measureRequests(call: Knowledge["call"], end: Promise<void>, count = 1): Promise<number[]> {
  let isOver = false;
  const ended = end.then(() => {
    isOver = true;
  });
  const times: number[] = [];
  await meanwhile(ended, async () => {
    while (!isOver || times.length < count) {
      const begun = performance.now();
      await call(contacts.list_contacts, {});
      times.push(performance.now() - begun);
    }
  });
  return times.sort((one, other) => one - other);
}
