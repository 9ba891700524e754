/**
 * R8: 32 MB uploads, one and eight at once: growth of memory, throughput, and 413 at one byte more.
 *
 * Memory is the resident set of the built service, sampled during the uploads, after one warm-up upload so
 * that one-time allocations are not counted. The sender generates its bytes. `npm run bench uploads -- 16`
 * sends sixteen at once.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { residentMb, startService } from "./support/service.ts";

const limit = 33_554_432;
const most = Number(process.argv[2] ?? 8);
const key = `sk_live_${"u".repeat(43)}`;
const dataDir = await mkdtemp(join(tmpdir(), "tidings-uploads-"));
const { child, baseUrl } = await startService(3984, key, { TIDINGS_DATA_DIR: dataDir });
const dispatcher = new Agent({ connections: most });

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64");
const boundary = "tidings-bench";
const head = Buffer.concat([
  Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n`,
  ),
  png,
]);
const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
/** Contains every byte value, so that the search for tags has to work. */
const piece = Buffer.from(Array.from({ length: 65_536 }, (_, index) => (index * 167 + (index >> 8)) & 255));

try {
  await measure("warm-up, one", 1);
  await measure("one", 1);
  await measure(`${most} at once`, most);
  await measure(`${most} at once, again`, most);
  const before = await countFiles();
  const over = await upload(limit + 1);
  const leftovers = (await countFiles()) - before;
  console.log(`one byte more                 ${over}, ${leftovers} files left`);
  process.exitCode = over === 413 && leftovers === 0 ? 0 : 1;
} finally {
  child.kill();
  await dispatcher.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function measure(name: string, count: number): Promise<void> {
  const base = await residentMb(child.pid);
  let peak = base;
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      peak = Math.max(peak, await residentMb(child.pid));
      await sleep(10);
    }
  };
  const uploadAll = async () => {
    const start = performance.now();
    const answers = await Promise.all(Array.from({ length: count }, () => upload(limit)));
    isOver = true;
    return { statuses: answers, seconds: (performance.now() - start) / 1000 };
  };
  const [{ statuses, seconds }] = await Promise.all([uploadAll(), watch()]);
  const speed = (count * 32) / seconds;
  const growth = `${base.toFixed(0)} → ${peak.toFixed(0)} MB (+${(peak - base).toFixed(0)})`;
  console.log(
    `${name.padEnd(28)}  ${seconds.toFixed(2)} s, ${speed.toFixed(0)} MB/s, resident ${growth}, ${[...new Set(statuses)]}`,
  );
}

async function upload(size: number): Promise<number> {
  const body = async function* () {
    yield head;
    for (let left = size - png.length; left > 0; left -= piece.length) {
      yield piece.subarray(0, left);
    }
    yield tail;
  };
  const answer = await request(`${baseUrl}/v1/uploads`, {
    method: "POST",
    headers: {
      "x-api-key": key,
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": String(head.length - png.length + size + tail.length),
    },
    body: Readable.from(body(), { objectMode: false }),
    dispatcher,
  });
  await answer.body.dump();
  return answer.statusCode;
}

async function countFiles(): Promise<number> {
  const entries = await readdir(join(dataDir, "files"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}
