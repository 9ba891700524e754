/** The lines that MCP on stdio reads: long ones, batches, invalid requests and cancellations. */
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { maxLineBytes } from "../src/mcp/stdio/read-lines.ts";
import { createUnansweredRequests } from "../src/mcp/stdio/unanswered.ts";
import { maxUploadBytes } from "../tools/uploads.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { initialize, lines, serveStdio } from "./support/stdio.ts";

/** Opens a connection without a reachable service, and records the messages that it sends. */
function openWithoutService() {
  const { stdin, stdout, ended } = serveStdio("http://127.0.0.1:9");
  const received: unknown[] = [];
  createInterface(stdout).on("line", (line) => received.push(JSON.parse(line)));
  return { stdin, received, ended };
}

test("a line that is too long is rejected before it ends, and the next one is read", async () => {
  const { stdin, received, ended } = openWithoutService();
  const chunk = Buffer.alloc(1_000_000, "x");
  await meanwhile(ended, async () => {
    for (let size = 0; size <= maxLineBytes; size += chunk.length) {
      await new Promise((resolve) => stdin.write(chunk, resolve));
    }
    expect(received).toMatchObject([{ jsonrpc: "2.0", id: null, error: { code: -32_600 } }]);
    stdin.end(`\n${lines(initialize)}`);
  });
  expect(received).toHaveLength(2);
  expect(received[1]).toMatchObject({ id: 1, result: { serverInfo: { name: "tidings" } } });
});

test("the largest uploadable file fits in a line", async () => {
  const { stdin, received, ended } = openWithoutService();
  const params = {
    name: "no_such_tool",
    arguments: { content_base64: "A".repeat(Math.ceil(maxUploadBytes / 3) * 4) },
  };
  stdin.write(lines(initialize));
  stdin.write(lines({ jsonrpc: "2.0", id: 2, method: "tools/call", params }));
  await meanwhile(ended, async () => {
    await expect.poll(() => received).toHaveLength(2);
    expect(received[1]).toMatchObject({
      id: 2,
      error: { message: expect.stringContaining("no_such_tool") },
    });
    stdin.end();
  });
});

const ping = { jsonrpc: "2.0", id: 2, method: "ping" };

test("the messages of a batch are answered one by one", async () => {
  const { stdin, received, ended } = openWithoutService();
  const params = { ...initialize.params, protocolVersion: "2025-03-26" };
  const batch = [
    ping,
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { id: 3 },
    { ...ping, id: 4 },
  ];
  stdin.end(lines({ ...initialize, params }, batch, []));
  await ended;
  expect(received).toHaveLength(5);
  expect(received).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: 1, result: expect.objectContaining({ protocolVersion: "2025-03-26" }) }),
      { jsonrpc: "2.0", id: 2, result: {} },
      expect.objectContaining({ id: 3, error: expect.objectContaining({ code: -32_600 }) }),
      { jsonrpc: "2.0", id: 4, result: {} },
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32_600 }) }),
    ]),
  );
});

test.each([
  ["another version", { ...ping, jsonrpc: "1.0" }, 2],
  ["no version", { ...ping, jsonrpc: undefined }, 2],
  ["null as id", { ...ping, id: null }, null],
  ["a fraction as id", { ...ping, id: 7.5 }, 7.5],
  ["no method", { ...ping, method: undefined }, 2],
])("an invalid request is rejected: %s", async (_, request, id) => {
  const { stdin, received, ended } = openWithoutService();
  stdin.end(lines(initialize, request));
  await ended;
  expect(received).toContainEqual(
    expect.objectContaining({ id, error: expect.objectContaining({ code: -32_600 }) }),
  );
});

test("a cancelled request is not waited for after the end of the input", async () => {
  const unanswered = createUnansweredRequests();
  unanswered.add({ id: 2, method: "resources/read" });
  unanswered.add({ id: 3, method: "resources/read" });
  unanswered.answered(3);
  unanswered.add({ method: "notifications/cancelled", params: { requestId: 2 } });
  await unanswered.settled();
});

test("a line separator inside a message does not end it", async () => {
  const { stdin, received, ended } = openWithoutService();
  const clientInfo = { name: "a\u2028b", version: "1" };
  stdin.end(lines({ ...initialize, params: { ...initialize.params, clientInfo } }));
  await ended;
  expect(received).toMatchObject([{ id: 1, result: { serverInfo: { name: "tidings" } } }]);
});
