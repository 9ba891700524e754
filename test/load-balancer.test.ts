/** deploy/Caddyfile in front of two processes: both answer, streams flow, and a stop ends no request. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../src/client/index.ts";
import { contacts } from "../tools/contacts.ts";
import { ownerKey } from "./support/app.ts";
import { type Caddy, startCaddy } from "./support/caddy.ts";
import { startDatabaseProxy } from "./support/database-proxy.ts";
import { openStream } from "./support/event-stream.ts";
import { hasProgram } from "./support/installed-program.ts";
import { openProcesses, type Processes, type ServedProcess } from "./support/served-process.ts";

const metricsToken = "a-token-of-the-operator";
const settings = {
  TIDINGS_METRICS_TOKEN: metricsToken,
  TIDINGS_TRUSTED_PROXIES: "127.0.0.1",
  // As in deploy/tidings.env.example.
  TIDINGS_DRAIN_DELAY: "5",
};

describe.skipIf(!hasProgram("caddy"))(
  "behind Caddy (skipped if it is not installed)",
  { tags: "postgres" },
  () => {
    let processes: Processes;
    let served: readonly ServedProcess[];
    let caddy: Caddy;

    beforeAll(async () => {
      processes = await openProcesses();
      served = [await processes.serve(settings), await processes.serve(settings)];
      caddy = await startCaddy(served.map(({ address }) => address));
    });
    afterAll(async () => {
      await caddy?.[Symbol.asyncDispose]();
      await processes?.[Symbol.asyncDispose]();
    });

    const createContact = (number: number) =>
      createClient({ baseUrl: caddy.address, key: ownerKey }).call(contacts.create_contact, {
        phone_number: `+1415555${String(1_000 + number)}`,
      });

    test("both processes answer, and neither shows its metrics there", async () => {
      for (let times = 0; times < 10; times += 1) {
        expect(
          (await fetch(`${caddy.address}/v1/contacts`, { headers: { "x-api-key": ownerKey } })).status,
        ).toBe(200);
      }
      const counts = await Promise.all(served.map((process) => countRequests(process)));
      expect(counts.every((count) => count > 0)).toBe(true);
      const hidden = await fetch(`${caddy.address}/metrics`, {
        headers: { authorization: `Bearer ${metricsToken}` },
      });
      expect(hidden.status).toBe(404);
    });

    test("events of a stream arrive while it is open", async () => {
      await using stream = await openStream(caddy, { query: { types: "contact.created" } });
      expect(stream.first?.event).toBe("open");
      for (const number of [1, 2]) {
        const { data } = await createContact(number);
        expect((await stream.next())?.data).toMatchObject({ data: { contact_id: data.id } });
      }
    });

    test("the progress of a tool call arrives before its answer", async () => {
      const client = new Client({ name: "test", version: "1" });
      const headers = { authorization: `Bearer ${ownerKey}` };
      const url = new URL("/mcp", caddy.address);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      const calls: Promise<Response>[] = [];
      const writeAsCustomer = () =>
        fetch(`${served[0]?.address}/simulator/inbound`, {
          method: "POST",
          headers: { "x-api-key": ownerKey, "content-type": "application/json" },
          body: JSON.stringify({ from: "+14155550123", text: "Hello" }),
        });
      const call = { name: "wait_for_message", arguments: { timeout_seconds: 50 } };
      // The message that ends the call is written when its first progress arrives.
      const answer = await client.callTool(call, { onprogress: () => void calls.push(writeAsCustomer()) });
      expect(answer).toMatchObject({ structuredContent: { meta: { is_timed_out: false } } });
      expect(calls).toHaveLength(1);
      await client.close();
    });

    test("while the database is away, the answers of the service arrive", async () => {
      await using proxy = await startDatabaseProxy(processes.env.DATABASE_URL ?? "");
      const behindProxy = { DATABASE_URL: proxy.url, TIDINGS_DATABASE_WAIT: "0" };
      const service = await processes.serve({ ...settings, ...behindProxy });
      await using own = await startCaddy([service.address]);
      await proxy.refuse();
      await expect.poll(async () => (await fetch(`${service.address}/readyz`)).status).toBe(503);
      // Caddy has checked the process since then.
      const before = await countRequests(service, "/drainz");
      await expect.poll(() => countRequests(service, "/drainz")).toBeGreaterThan(before + 1);
      const answer = await fetch(`${own.address}/v1/contacts`, { headers: { "x-api-key": ownerKey } });
      expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: "unavailable" } }]);
      await service.process.end("SIGKILL");
    });

    test("a process that is stopped and started again ends no request", async () => {
      const [first] = served;
      const statuses = new Map<number, number>();
      let isOver = false;
      const requestAgain = async (method: "GET" | "POST", phone: number) => {
        for (let number = phone; !isOver; number += 1) {
          const response = await fetch(`${caddy.address}/v1/contacts`, {
            method,
            headers: { "x-api-key": ownerKey, "content-type": "application/json" },
            ...(method === "POST" && { body: JSON.stringify({ phone_number: `+1415${number}` }) }),
          });
          await response.arrayBuffer();
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        }
      };
      const requesting = Promise.all([
        requestAgain("GET", 0),
        requestAgain("GET", 0),
        requestAgain("POST", 5_560_000),
        requestAgain("POST", 5_570_000),
      ]);
      requesting.catch(() => undefined); // awaited below
      await first?.process.end("SIGTERM");
      const port = new URL(first?.address ?? "").port;
      const restarted = await processes.serve({ ...settings, PORT: port });
      // Caddy uses it again.
      await expect.poll(() => countRequests(restarted)).toBeGreaterThan(10);
      isOver = true;
      await requesting;
      expect([...statuses.keys()].sort()).toEqual([200, 201]);
      expect(first?.process.child.exitCode).toBe(0);
    });
  },
);

/** How many requests the process has answered, by default for contacts. */
async function countRequests(
  { address }: Pick<ServedProcess, "address">,
  operation = "\\w+_contacts?",
): Promise<number> {
  const response = await fetch(`${address}/metrics`, {
    headers: { authorization: `Bearer ${metricsToken}` },
  });
  const counts = (await response.text()).matchAll(
    new RegExp(`^tidings_http_requests_total\\{operation="${operation}",[^}]*\\} (\\d+)$`, "gm"),
  );
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
}
