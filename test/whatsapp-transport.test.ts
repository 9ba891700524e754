/** Which errors on the way to the Cloud API are tried again, and which may have sent the message. */
import { createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { inboxes } from "../tools/inboxes.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { certificate, certificateKey } from "./support/certificate.ts";
import { lendTestDatabase, type TestDatabase } from "./support/database.ts";
import { startReceiver } from "./support/receiver.ts";
import { type ScriptedResponse, startUpstream } from "./support/scripted-service.ts";
import { type GraphApi, openWindow, sendText, startGraphApi, startWhatsAppApp } from "./support/whatsapp.ts";

const hour = 3_600_000;
let graph: GraphApi;
let database: TestDatabase;
let app: TestApp;
let inbox: Awaited<ReturnType<typeof startWhatsAppApp>>["inbox"];

beforeEach(async () => {
  graph = await startGraphApi();
  database = await lendTestDatabase();
  ({ app, inbox } = await startWhatsAppApp(graph, { database }));
  await openWindow(app, inbox);
});
afterEach(async () => {
  await app[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await graph[Symbol.asyncDispose]();
});

function answerFirst(response: ScriptedResponse): void {
  const accept = graph.routes["POST messages"];
  const responses = [response];
  graph.routes["POST messages"] = (request) => responses.shift() ?? accept?.(request) ?? "hang";
}

async function restart(env: Record<string, string>): Promise<void> {
  const startsAt = app.now();
  await app[Symbol.asyncDispose]();
  app = await startTestApp({ database, startsAt, env: { ...graph.env, ...env } });
}

const page = (status: number, headers: Record<string, string> = {}) => {
  return { status, body: "<html>Error</html>", headers: { "content-type": "text/html", ...headers } };
};

describe("a message that certainly did not reach WhatsApp waits for it, and is sent once", () => {
  const waiting = { reason: "outage", attempts: 1, last_error: { code: "channel_unreachable" } };

  test("after a refused connection", async () => {
    await graph[Symbol.asyncDispose]();
    const { read } = await sendText(app, inbox);
    expect(await read()).toMatchObject({ status: "queued", waiting_for: waiting });
    await using again = await startUpstream(graph.respond, Number(new URL(graph.url).port));
    await app.advanceTime(10_000);
    expect((await read()).status).toBe("sent");
    expect(graph.sent()).toEqual([]);
    expect(again.requests.filter(({ path }) => path.includes("/messages?"))).toHaveLength(1);
  });

  test("after a connection that was reset before the request was written", async () => {
    const received: Buffer[] = [];
    const server = await startResetting(received);
    const { port } = server.address() as { port: number }; // it listens on a TCP port
    // The reset ends the handshake of TLS, which comes before the request.
    await restart({ TIDINGS_WHATSAPP_BASE_URL: `https://127.0.0.1:${port}` });
    const { id, read } = await sendText(app, inbox);
    expect(received).toHaveLength(1);
    expect(await read()).toMatchObject({ status: "queued", waiting_for: waiting });
    await app.advanceTime(10_000);
    expect(received).toHaveLength(2);
    await restart({});
    await app.advanceTime(10_000);
    expect(graph.sent()).toMatchObject([{ biz_opaque_callback_data: id }]);
    await app.advanceTime(hour);
    expect(graph.sent()).toHaveLength(1);
    server.close();
  });

  test("after a certificate that is not trusted", async () => {
    await using server = await startReceiver(undefined, {
      tls: { key: certificateKey, cert: certificate },
    });
    await restart({ TIDINGS_WHATSAPP_BASE_URL: `https://127.0.0.1:${server.port}` });
    const { id, read } = await sendText(app, inbox);
    expect(await read()).toMatchObject({ status: "queued", waiting_for: waiting });
    await app.advanceTime(10_000);
    expect([server.connections, server.requests]).toEqual([2, 0]);
    const { data } = await app.call(inboxes.list_inboxes, {});
    expect(data.find((one) => one.id === inbox.id)?.health?.status).toBe("unreachable");
    await restart({});
    await app.advanceTime(10_000);
    expect(graph.sent()).toMatchObject([{ biz_opaque_callback_data: id }]);
  });

  test.each([
    ["an error page", page(503, { "retry-after": "30" }), 30],
    ["a time that is over", page(503, { "retry-after": "0" }), 5],
  ])("after 503 with Retry-After: %s", async (_, response, seconds) => {
    answerFirst(response);
    const { read } = await sendText(app, inbox);
    const next_attempt_at = new Date(app.now().getTime() + seconds * 1_000).toISOString();
    const last_error = { code: "channel_unavailable" };
    expect(await read()).toMatchObject({
      status: "queued",
      waiting_for: { reason: "outage", attempts: 1, next_attempt_at, last_error },
    });
    await app.advanceTime(seconds * 1_000 - 1);
    expect(graph.sent()).toHaveLength(1);
    await app.advanceTime(1);
    expect((await read()).status).toBe("sent");
    await app.advanceTime(25 * hour);
    expect(graph.sent()).toHaveLength(2);
  });
});

describe("a message that WhatsApp may have accepted is never sent again", () => {
  test.each([
    ["200 without the id of the message", { body: { messaging_product: "whatsapp" } }],
    ["200 with an empty list of messages", { body: { messages: [] } }],
    ["200 in HTML", page(200)],
    ["500 in HTML", page(500)],
    ["502 in HTML", page(502)],
    ["502 in HTML with Retry-After", page(502, { "retry-after": "5" })],
    ["503 without Retry-After", page(503)],
    ["a connection that is reset after the request was written", "break"],
  ] as const)("after %s", async (_, response) => {
    answerFirst(response);
    const claimedAt = app.now().getTime();
    const { read } = await sendText(app, inbox);
    await app.advanceTime(30_000);
    expect(await read()).toMatchObject({
      status: "queued",
      waiting_for: {
        reason: "confirmation",
        since: new Date(claimedAt).toISOString(),
        next_attempt_at: null,
        last_error: { code: "unconfirmed" },
      },
    });
    await app.advanceTime(hour / 2);
    expect((await read()).waiting_for).toMatchObject({ reason: "confirmation" });
    await app.advanceTime(12 * hour);
    await app.advanceTime(12 * hour);
    expect(await read()).toMatchObject({
      status: "failed",
      error: { code: "unconfirmed", retryable: false },
    });
    expect(await read()).not.toHaveProperty("waiting_for");
    expect(graph.sent()).toHaveLength(1);
  });
});

/** Resets each connection when its first bytes arrive. */
async function startResetting(received: Buffer[]): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (bytes) => {
      received.push(bytes);
      socket.resetAndDestroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
