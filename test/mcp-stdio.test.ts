/** MCP on standard input and output: the program, and the list while the key's scopes are not known. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { createClient } from "../src/client/index.ts";
import { maxLineBytes } from "../src/mcp/read-lines.ts";
import { type StdioOptions, serveOverStdio } from "../src/mcp/stdio.ts";
import type { KeyAccess } from "../src/mcp/tool-list/access.ts";
import { tools } from "../src/mcp/tool-list/definitions.ts";
import { allScopes } from "../tools/contract/index.ts";
import { maxUploadBytes } from "../tools/uploads.ts";
import { clientInfo, quietLog, stdioProgram, useMcpServer } from "./support/mcp-clients.ts";

const face = useMcpServer();

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: clientInfo },
};
const lines = (...asked: object[]) => asked.map((one) => `${JSON.stringify(one)}\n`).join("");
const listing = { jsonrpc: "2.0", id: 2, method: "tools/list" };

describe("the program on stdio", () => {
  function start(env: Record<string, string> = {}) {
    const { command, args, env: usual } = stdioProgram(face.upstream, "sk_live_all");
    const child = spawn(command, args, { env: { ...usual, ...env } });
    const printed: string[] = [];
    const complaints: string[] = [];
    createInterface(child.stdout).on("line", (line) => printed.push(line));
    child.stderr.on("data", (chunk) => complaints.push(String(chunk)));
    return { child, printed, complaints, exited: once(child, "exit") };
  }

  test("prints nothing but JSON-RPC, whatever libraries print", async () => {
    const { child, printed, complaints, exited } = start({ NOISE: "hello from a library" });
    child.stdin.write(lines(initialize, listing));
    await expect.poll(() => printed).toHaveLength(2);
    expect(printed.map((line) => JSON.parse(line).jsonrpc)).toEqual(["2.0", "2.0"]);
    expect(complaints.join("")).toContain("hello from a library");
    child.stdin.end();
    await exited;
    expect(printed).toHaveLength(2);
  });

  test("is gone soon after its input ends, even with a call running", async () => {
    const { child, printed, exited } = start();
    child.stdin.write(lines(initialize));
    await expect.poll(() => printed).toHaveLength(1);
    face.upstream.respond = () => "hang";
    const params = { name: "send_message", arguments: { to: "+14155550123", body: "hi" } };
    child.stdin.write(lines({ jsonrpc: "2.0", id: 3, method: "tools/call", params }));
    await expect.poll(() => face.upstream.requests.at(-1)?.path).toBe("/v1/messages");
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
    // Less than the 25 s after which the call itself ends.
  }, 20_000);

  test("answers what was piped in before it leaves", async () => {
    const { child, printed, exited } = start();
    child.stdin.end(lines(initialize, listing));
    await exited;
    expect(printed.map((line) => JSON.parse(line).id)).toEqual([1, 2]);
  });

  test("is gone when nobody reads it any more", async () => {
    const { child, printed, exited } = start();
    child.stdin.write(lines(initialize));
    await expect.poll(() => printed).toHaveLength(1);
    child.stdout.destroy();
    child.stdin.write(lines(listing));
    expect(await exited).toEqual([0, null]);
  });
});

describe("scopes that are not known", () => {
  function open(learnAccess: () => Promise<KeyAccess | undefined>, more: Partial<StdioOptions> = {}) {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const client = createClient({ baseUrl: face.upstream.url, key: "sk_live_all" });
    const connection = serveOverStdio({
      client,
      version: "0.0.0",
      log: quietLog,
      discoverAccess: learnAccess,
      stdin,
      stdout,
      ...more,
    });
    const answers: { result: { tools: { name: string }[] } }[] = [];
    createInterface(stdout).on("line", (line) => answers.push(JSON.parse(line)));
    return { stdin, answers, connection };
  }

  test.each([
    ["that nobody knows", () => Promise.resolve(undefined)],
    ["whose look-up failed", () => Promise.reject(new Error("no"))],
  ])("a key %s sees every tool", async (_, learn) => {
    const { stdin, answers } = open(learn);
    stdin.write(lines(initialize, listing));
    await expect.poll(() => answers).toHaveLength(2);
    expect(answers[1]?.result.tools).toHaveLength(tools.filter(({ isCore }) => isCore).length);
  });

  test("a list does not wait for them for ever; once they are known, they count", async () => {
    let learn: (access: KeyAccess) => void = () => undefined;
    const learned = new Promise<KeyAccess>((resolve) => {
      learn = resolve;
    });
    const { stdin, answers } = open(() => learned, { listWaitMs: 20 });
    stdin.write(lines(initialize, listing));
    await expect.poll(() => answers).toHaveLength(2);
    expect(answers[1]?.result.tools).toHaveLength(tools.filter(({ isCore }) => isCore).length);
    learn({ scopes: new Set(["contacts:read"]) });
    stdin.write(lines({ ...listing, id: 3 }));
    await expect.poll(() => answers).toHaveLength(3);
    expect(answers[2]?.result.tools.map(({ name }) => name)).not.toContain("send_message");
  });

  test("what the service was learned to have is listed, and no more", async () => {
    const access = { scopes: new Set(allScopes), availableTools: new Set(["list_contacts"]) };
    const { stdin, answers } = open(async () => access);
    stdin.write(lines(initialize, listing));
    await expect.poll(() => answers).toHaveLength(2);
    expect(answers[1]?.result.tools.map(({ name }) => name)).toEqual(["list_contacts"]);
  });

  test.each([
    ["not at once", 3_600_000, 1, true],
    ["after the retry interval", 0, 2, false],
  ])("after a failed attempt a list asks again %s", async (_, retryAfterMs, attempts, listsAll) => {
    const discover = vi
      .fn<() => Promise<KeyAccess | undefined>>()
      .mockResolvedValueOnce(undefined)
      .mockResolvedValue({ scopes: new Set(["contacts:read"]) });
    const { stdin, answers } = open(discover, { retryAfterMs });
    stdin.write(lines(initialize, listing));
    await expect.poll(() => answers).toHaveLength(2);
    // The timer of 0 ms has fired before the next turn of timers.
    await new Promise((resolve) => setTimeout(resolve, 1));
    stdin.write(lines(listing));
    await expect.poll(() => answers).toHaveLength(3);
    expect(discover).toHaveBeenCalledTimes(attempts);
    const names = answers[2]?.result.tools.map(({ name }) => name) ?? [];
    expect([names.includes("list_contacts"), names.includes("send_message")]).toEqual([true, listsAll]);
  });

  test("an input that had ended before is noticed", async () => {
    const stdin = new PassThrough();
    stdin.end();
    stdin.resume();
    await once(stdin, "end");
    const client = createClient({ baseUrl: face.upstream.url });
    const learnAccess = async () => undefined;
    const stdout = new PassThrough();
    await serveOverStdio({
      client,
      version: "0.0.0",
      log: quietLog,
      discoverAccess: learnAccess,
      stdin,
      stdout,
    }).ended;
  });
});

/** A connection that can reach no service, and what it has told. */
function openAlone() {
  const client = createClient({ baseUrl: "http://127.0.0.1:9" });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const told: unknown[] = [];
  createInterface(stdout).on("line", (line) => told.push(JSON.parse(line)));
  const learnAccess = async () => undefined;
  const { ended } = serveOverStdio({
    client,
    version: "0.0.0",
    log: quietLog,
    discoverAccess: learnAccess,
    stdin,
    stdout,
  });
  return { stdin, told, ended };
}

test("a line that is too long is refused before it ends, forgotten, and the next one is read", async () => {
  const { stdin, told, ended } = openAlone();
  const part = Buffer.alloc(1_000_000, "x");
  for (let size = 0; size <= maxLineBytes; size += part.length) {
    await new Promise((resolve) => stdin.write(part, resolve));
  }
  expect(told).toMatchObject([{ jsonrpc: "2.0", id: null, error: { code: -32_600 } }]);
  stdin.end(`\n${lines(initialize)}`);
  await ended;
  expect(told).toHaveLength(2);
  expect(told[1]).toMatchObject({ id: 1, result: { serverInfo: { name: "tidings" } } });
});

test("the largest file that may be uploaded fits in a line", async () => {
  const { stdin, told, ended } = openAlone();
  const params = {
    name: "no_such_tool",
    arguments: { content_base64: "A".repeat(Math.ceil(maxUploadBytes / 3) * 4) },
  };
  stdin.write(lines(initialize));
  stdin.write(lines({ jsonrpc: "2.0", id: 2, method: "tools/call", params }));
  await expect.poll(() => told).toHaveLength(2);
  expect(told[1]).toMatchObject({ id: 2, error: { message: expect.stringContaining("no_such_tool") } });
  stdin.end();
  await ended;
});

test("a line separator inside a message does not end it", async () => {
  const { stdin, told, ended } = openAlone();
  const clientInfo = { name: "a\u2028b", version: "1" };
  stdin.end(lines({ ...initialize, params: { ...initialize.params, clientInfo } }));
  await ended;
  expect(told).toMatchObject([{ id: 1, result: { serverInfo: { name: "tidings" } } }]);
});
