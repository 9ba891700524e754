/** The object store and the collector of traces, each behind a proxy that can refuse and be silent. */
import { setTimeout as sleep } from "node:timers/promises";
import { openBucket } from "../../../test/support/bucket.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../../test/support/database-proxy.ts";
import { startCollector } from "../collector.ts";

export interface Outside extends AsyncDisposable {
  /** The settings that select both. */
  readonly env: Readonly<Record<string, string>>;
  readonly store: DatabaseProxy;
  readonly collector: DatabaseProxy;
}

export async function startOutside(): Promise<Outside> {
  const bucket = await openBucket();
  const store = await startDatabaseProxy(bucket.env.TIDINGS_S3_ENDPOINT ?? "");
  const discarding = await startCollector();
  const collector = await startDatabaseProxy(discarding.url);
  return {
    env: {
      ...bucket.env,
      TIDINGS_S3_ENDPOINT: store.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    },
    store,
    collector,
    async [Symbol.asyncDispose]() {
      await Promise.all([store, collector].map((proxy) => proxy[Symbol.asyncDispose]()));
      discarding.close();
      await bucket[Symbol.asyncDispose]();
    },
  };
}

interface UploadTarget {
  readonly baseUrl: string;
  readonly key: string;
}

/**
 * Uploads a small file every half second while `fault` runs and once after it, and reads each again.
 * @throws if a file that was acknowledged can't be read.
 */
export async function uploadDuring(target: UploadTarget, fault: () => Promise<unknown>): Promise<void> {
  const acknowledged: { readonly url: string; readonly text: string }[] = [];
  const statuses: number[] = [];
  let isOver = false;
  const uploadAll = async () => {
    for (let isLast = false; !isLast; await sleep(500)) {
      isLast = isOver;
      const text = `file ${statuses.length}`;
      const { status, url } = await upload(target, text);
      statuses.push(status);
      if (url !== undefined) {
        acknowledged.push({ url, text });
      }
    }
  };
  const end = () => {
    isOver = true;
  };
  await Promise.all([uploadAll(), fault().finally(end)]);
  for (const { url, text } of acknowledged) {
    const answer = await fetch(url);
    if (!answer.ok || (await answer.text()) !== text) {
      throw new Error(`An uploaded file can't be read: ${answer.status}.`);
    }
  }
  console.log(`uploads: ${statuses.join(", ")}; ${acknowledged.length} acknowledged, all readable`);
}

async function upload({ baseUrl, key }: UploadTarget, text: string) {
  const form = new FormData();
  form.set("file", new Blob([text], { type: "text/plain" }), "note.txt");
  const headers = { "x-api-key": key };
  const answer = await fetch(`${baseUrl}/v1/uploads`, { method: "POST", headers, body: form });
  const { data } = (await answer.json()) as { data?: { storage_url: string } }; // as documented
  return { status: answer.status, url: data?.storage_url };
}
