/**
 * Memory of the service under 40 mixed requests a second, on both engines at the same time.
 *
 * Sends, received messages, reads, searches and tool calls over MCP, with 2,000 contacts. For each tenth of
 * `--minutes 30` it prints the median of the resident memory, its maximum and the times of the answers, and
 * at the end the mean of the last third beside that of the third before. `--per-second 40` is for each
 * engine. Run `npm run build` first.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { type Client, createClient } from "../src/client/index.ts";
import { runOnServer, withDatabase } from "../test/support/postgres.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { type Call, quantile, runOpenLoop } from "./support/load.ts";
import { mcpRequest, modernMeta } from "./support/mcp-request.ts";
import { median } from "./support/median.ts";
import { residentMb, startService } from "./support/service.ts";

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    "per-second": { type: "string", default: "40" },
  },
});
const perSecond = Number(options["per-second"]);
const parts = 10;
const partMs = (Number(options.minutes) * 60_000) / parts;
/** How often the memory is read in each part. */
const sampleCount = 60;
const contactCount = 2_000;
const port = 39_490;
const key = `sk_live_${"m".repeat(43)}`;
const server = process.env.TEST_DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/postgres";
const name = `tidings_memory_${process.pid}`;

await runOnServer(server, `create database ${name}`);
try {
  await Promise.all([
    measure("embedded", port, {}),
    measure("PostgreSQL", port + 1, { DATABASE_URL: withDatabase(server, name) }),
  ]);
} finally {
  await runOnServer(server, `drop database ${name} with (force)`);
}

async function measure(engine: string, port: number, env: Record<string, string>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-bench-"));
  const { child, baseUrl } = await startService(port, key, { ...env, TIDINGS_DATA_DIR: dataDir });
  const client = createClient({ baseUrl, key, timeoutMs: 60_000, retries: 0 });
  const pool = new Pool(baseUrl);
  const print = (text: string) => console.log(`${engine.padEnd(12)}${text}`);
  print(`at rest: ${(await residentMb(child.pid)).toFixed(0)} MB`);
  const memory: number[] = [];
  const call = mixedCalls(client, pool);
  for (let part = 1; part <= parts; part += 1) {
    const samples: number[] = [];
    const sample = async () => {
      samples.push(await residentMb(child.pid));
    };
    const sampling = setInterval(() => void sample(), partMs / sampleCount);
    const load = await runOpenLoop({ perSecond, ms: partMs }, call);
    clearInterval(sampling);
    const resident = median(samples);
    memory.push(resident);
    const times = [0.5, 0.99, 1].map((share) => `${quantile(load, share).toFixed(0)} ms`);
    const minute = ((part * partMs) / 60_000).toFixed(1);
    print(
      `minute ${minute}: ${resident.toFixed(0)} MB, at most ${Math.max(...samples).toFixed(0)} MB; answers: median ${times[0]}, p99 ${times[1]}, worst ${times[2]}, ${load.errors} errors`,
    );
  }
  const third = Math.floor(parts / 3);
  const last = mean(memory.slice(-third));
  const before = mean(memory.slice(-2 * third, -third));
  print(`last third: ${last.toFixed(0)} MB, the third before: ${before.toFixed(0)} MB`);
  await Promise.all([client.close(), pool.close()]);
  child.kill("SIGTERM");
  await once(child, "exit");
  await rm(dataDir, { recursive: true });
}

/** Calls of all kinds in turn. */
function mixedCalls(client: Client, pool: Pool): Call {
  const kinds: readonly ((phone: string, number: number) => Promise<unknown>)[] = [
    (to, number) =>
      client.call(messages.send_message, { to, type: "text", text: { body: `Order ${number} is ready` } }),
    () => client.call(conversations.list_conversations, {}),
    (from, number) =>
      post(pool, "/simulator/inbound", { from, text: `Where is order ${number}?`, name: "Ada Lovelace" }),
    () => client.call(contacts.list_contacts, {}),
    (to) => client.call(messages.send_message, { to, type: "text", text: { body: "One moment, please" } }),
    (_, number) => client.call(messages.search_messages, { query: `order ${number - 10}` }),
    () => callTool(pool, "list_conversations"),
    async () => {
      const { data } = await client.call(conversations.list_conversations, { per_page: 1 });
      await client.call(messages.list_messages, { conversation_id: data[0]?.id ?? "" });
    },
  ];
  return async (number) => {
    const phone = `+1415${String(5_550_000 + ((number * 7) % contactCount))}`;
    await kinds[number % kinds.length]?.(phone, number);
    return true;
  };
}

async function post(pool: Pool, path: string, body: object): Promise<void> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  await send(pool, { method: "POST", path, headers, body: JSON.stringify(body) });
}

async function callTool(pool: Pool, tool: string): Promise<void> {
  const params = { _meta: modernMeta, name: tool, arguments: {} };
  const headers = { "mcp-method": "tools/call", "mcp-name": tool, "mcp-protocol-version": "2026-07-28" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  await send(pool, mcpRequest(key, headers, body));
}

/** @throws if the answer is an error. */
async function send(pool: Pool, request: Parameters<Pool["request"]>[0]): Promise<void> {
  const answer = await pool.request(request);
  const text = await answer.body.text();
  if (answer.statusCode >= 300) {
    throw new Error(text);
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
