/** MCP on stdio: the program, and the tool list while the key's scopes are unknown. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, inject, test, vi } from "vitest";
import type { StdioOptions } from "../src/mcp/stdio/index.ts";
import type { KeyAccess } from "../src/mcp/tool-list/access.ts";
import { tools } from "../src/mcp/tool-list/definitions.ts";
import { allScopes } from "../tools/contract/index.ts";
import { stdioProgram, useMcpServer } from "./support/mcp-clients.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { initialize, lines, serveStdio } from "./support/stdio.ts";

const server = useMcpServer();

const listing = { jsonrpc: "2.0", id: 2, method: "tools/list" };
const listChanged = { method: "notifications/tools/list_changed" };

describe("the program on stdio", () => {
  function start(env: Record<string, string> = {}) {
    const { command, args, env: defaults } = stdioProgram(server.upstream, "sk_live_all");
    const child = spawn(command, args, { env: { ...defaults, ...env } });
    const printed: string[] = [];
    const warnings: string[] = [];
    createInterface(child.stdout).on("line", (line) => printed.push(line));
    child.stderr.on("data", (chunk) => warnings.push(String(chunk)));
    // Unlike "exit", it comes after the whole output.
    return { child, printed, warnings, exited: once(child, "close") };
  }

  test("prints only JSON-RPC on stdout, even if libraries print", async () => {
    const preloaded = resolve("test/support/print-like-a-library.cjs");
    const { child, printed, warnings, exited } = start({ NODE_OPTIONS: `--require=${preloaded}` });
    await meanwhile(exited, async () => {
      child.stdin.write(lines(initialize));
      await expect.poll(() => printed).toHaveLength(1);
      child.kill("SIGUSR2");
      await expect.poll(() => warnings.join("")).toContain("hello from a library\nhello again\n");
      child.stdin.write(lines(listing));
      await expect.poll(() => printed).toHaveLength(2);
      expect(printed.map((line) => JSON.parse(line).jsonrpc)).toEqual(["2.0", "2.0"]);
      child.stdin.end();
    });
    expect(printed).toHaveLength(2);
  });

  test("exits soon after its input ends, even with a call running", async () => {
    const { child, printed, exited } = start();
    child.stdin.write(lines(initialize));
    const outcome = await meanwhile(exited, async () => {
      await expect.poll(() => printed).toHaveLength(1);
      server.upstream.respond = () => "hang";
      const params = { name: "send_message", arguments: { to: "+14155550123", body: "hi" } };
      child.stdin.write(lines({ jsonrpc: "2.0", id: 3, method: "tools/call", params }));
      await expect.poll(() => server.upstream.requests.map(({ path }) => path)).toContain("/v1/messages");
      child.stdin.end();
    });
    expect(outcome).toEqual([0, null]);
    // The call did not end before: its answer would have been printed.
    expect(printed).toHaveLength(1);
  });

  test("answers all piped requests before it exits", async () => {
    const { child, printed, exited } = start();
    child.stdin.end(lines(initialize, listing));
    await exited;
    // Not counted: a notification, if the scopes arrived after the list.
    expect(printed.flatMap((line) => JSON.parse(line).id ?? [])).toEqual([1, 2]);
  });

  test("exits when its output is closed", async () => {
    const { child, printed, exited } = start();
    child.stdin.write(lines(initialize));
    const outcome = await meanwhile(exited, async () => {
      await expect.poll(() => printed).toHaveLength(1);
      child.stdout.destroy();
      child.stdin.write(lines(listing));
    });
    expect(outcome).toEqual([0, null]);
  });
});

describe("a list with scopes that are remembered", () => {
  const remembered: KeyAccess = { scopes: new Set(["contacts:read"]) };

  function open(discoverAccess: StdioOptions["discoverAccess"], options: Partial<StdioOptions> = {}) {
    const settings = { knownAccess: remembered, discoverAccess, ...options };
    const { stdin, stdout } = serveStdio(server.upstream.url, settings);
    const received: { id?: number; result: { tools: { name: string }[] } }[] = [];
    createInterface(stdout).on("line", (line) => received.push(JSON.parse(line)));
    const list = async (id: number) => {
      stdin.write(lines({ ...listing, id }));
      await expect.poll(() => received).toContainEqual(expect.objectContaining({ id }));
      return received.find((message) => message.id === id)?.result.tools.map(({ name }) => name);
    };
    stdin.write(lines(initialize));
    return { received, list };
  }

  test("does not wait for the service", async () => {
    const { list } = open(() => new Promise(() => undefined));
    const names = await list(2);
    expect(names).toContain("list_contacts");
    expect(names).not.toContain("send_message");
  });

  test("is announced as changed when the key may do something else", async () => {
    const { received, list } = open(async () => ({ scopes: new Set(allScopes) }));
    expect(await list(2)).not.toContain("send_message");
    await expect.poll(() => received).toContainEqual(expect.objectContaining(listChanged));
    expect(await list(3)).toContain("send_message");
  });

  test("is not announced as changed otherwise", async () => {
    const discover = vi.fn(async () => ({ scopes: new Set(remembered.scopes) }));
    const { received, list } = open(discover);
    await list(2);
    await expect.poll(() => discover.mock.calls).toHaveLength(1);
    await list(3);
    expect(received).not.toContainEqual(expect.objectContaining(listChanged));
  });

  test("is checked again when it is no longer valid", async () => {
    const discover = vi
      .fn<() => Promise<KeyAccess>>()
      .mockResolvedValueOnce({ scopes: new Set(remembered.scopes) })
      .mockResolvedValue({ scopes: new Set(allScopes) });
    const { received, list } = open(discover, { refreshAfterMs: 0 });
    await list(2);
    await expect.poll(() => discover.mock.calls).toHaveLength(1);
    // The timer of 0 ms has fired before the next turn of timers.
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(await list(3)).not.toContain("send_message");
    await expect.poll(() => received).toContainEqual(expect.objectContaining(listChanged));
    expect(await list(4)).toContain("send_message");
  });

  test("is that of the program's last start, without a word of the key", async () => {
    const home = await mkdtemp(join(inject("folder"), "home-"));
    const key = "sk_live_reader";
    const { command, args, env } = stdioProgram(server.upstream, key);
    const folder = join(home, ".cache", "tidings", "access");
    const readAccess = () => readdir(folder).catch(() => []);
    const listOnce = async () => {
      const child = spawn(command, args, { env: { ...env, HOME: home } });
      const printed: string[] = [];
      createInterface(child.stdout).on("line", (line) => printed.push(line));
      child.stdin.write(lines(initialize));
      await expect.poll(readAccess, { timeout: 10_000 }).toHaveLength(1);
      child.stdin.end(lines(listing));
      await once(child, "close");
      return JSON.parse(printed[1] ?? "").result.tools.length;
    };
    const first = await listOnce();
    const [file = ""] = await readAccess();
    expect(file + (await readFile(join(folder, file), "utf8"))).not.toContain(key);
    server.upstream.respond = () => "hang";
    expect(await listOnce()).toBe(first);
  });
});

describe("while the key's scopes are unknown", () => {
  function open(discoverAccess: StdioOptions["discoverAccess"], options: Partial<StdioOptions> = {}) {
    const { stdin, stdout } = serveStdio(server.upstream.url, { discoverAccess, ...options });
    const answers: { id?: number; result: { tools: { name: string }[] } }[] = [];
    createInterface(stdout).on("line", (line) => answers.push(JSON.parse(line)));
    return { stdin, answers };
  }

  test.each([
    ["whose scopes can't be discovered", () => Promise.resolve(undefined)],
    ["whose discovery failed", () => Promise.reject(new Error("no"))],
  ])("a key %s sees every tool", async (_, discover) => {
    const { stdin, answers } = open(discover);
    stdin.write(lines(initialize, listing));
    await expect.poll(() => answers).toHaveLength(2);
    expect(answers[1]?.result.tools).toHaveLength(3 + tools.filter(({ tier }) => tier !== "extended").length);
  });

  test("the list waits for a limited time, and is filtered once the scopes are known", async () => {
    let resolveAccess: (access: KeyAccess) => void = () => undefined;
    const access = new Promise<KeyAccess>((resolve) => {
      resolveAccess = resolve;
    });
    const { stdin, answers } = open(() => access, { listWaitMs: 20 });
    stdin.write(lines(initialize, listing));
    await expect.poll(() => answers).toHaveLength(2);
    expect(answers[1]?.result.tools).toHaveLength(3 + tools.filter(({ tier }) => tier !== "extended").length);
    resolveAccess({ scopes: new Set(["contacts:read"]) });
    await expect.poll(() => answers[2]).toMatchObject(listChanged);
    stdin.write(lines({ ...listing, id: 3 }));
    await expect.poll(() => answers).toHaveLength(4);
    expect(answers[3]?.result.tools.map(({ name }) => name)).not.toContain("send_message");
  });

  test.each(["prompts/list", "resources/templates/list", "tools/list"])(
    "%s is answered for the scopes that are known within the time",
    async (method) => {
      let resolveAccess: (access: KeyAccess) => void = () => undefined;
      const access = new Promise<KeyAccess>((resolve) => {
        resolveAccess = resolve;
      });
      const { stdin, answers } = open(() => access, { listWaitMs: 20_000 });
      stdin.write(lines(initialize, { ...listing, method }, { jsonrpc: "2.0", id: 3, method: "ping" }));
      // The ping is answered at once, after the list was asked for.
      await expect.poll(() => answers).toHaveLength(2);
      expect(answers[1]).toMatchObject({ id: 3 });
      resolveAccess({ scopes: new Set() });
      await expect.poll(() => answers).toHaveLength(3);
      stdin.write(lines({ ...listing, method, id: 4 }));
      await expect.poll(() => answers).toHaveLength(4);
      expect(answers[2]).toEqual({ ...answers[3], id: 2 });
    },
  );

  test("only the tools that the service has are listed", async () => {
    const access = { scopes: new Set(allScopes), availableTools: new Set(["list_contacts"]) };
    const { stdin, answers } = open(async () => access);
    stdin.write(lines(initialize, listing));
    await expect.poll(() => answers).toHaveLength(2);
    expect(answers[1]?.result.tools.map(({ name }) => name)).toEqual(["list_contacts"]);
  });

  test.each([
    ["not at once", 3_600_000, 1, true],
    ["after the retry interval", 0, 2, false],
  ])("a failed discovery is tried again %s", async (_, retryAfterMs, attempts, listsAll) => {
    const discover = vi
      .fn<() => Promise<KeyAccess | undefined>>()
      .mockResolvedValueOnce(undefined)
      .mockResolvedValue({ scopes: new Set(["contacts:read"]) });
    const { stdin, answers } = open(discover, { retryAfterMs });
    stdin.write(lines(initialize, listing));
    await expect.poll(() => answers).toContainEqual(expect.objectContaining({ id: 2 }));
    // The timer of 0 ms has fired before the next turn of timers.
    await new Promise((resolve) => setTimeout(resolve, 1));
    stdin.write(lines({ ...listing, id: 3 }));
    await expect.poll(() => answers).toContainEqual(expect.objectContaining({ id: 3 }));
    expect(discover).toHaveBeenCalledTimes(attempts);
    const names = answers.find(({ id }) => id === 3)?.result.tools.map(({ name }) => name) ?? [];
    expect([names.includes("list_contacts"), names.includes("send_message")]).toEqual([true, listsAll]);
  });

  test("a list is announced as changed when a later discovery succeeds", async () => {
    const discover = vi
      .fn<() => Promise<KeyAccess | undefined>>()
      .mockResolvedValueOnce(undefined)
      .mockResolvedValueOnce({ scopes: new Set(["contacts:read"]) });
    const { stdin, answers } = open(discover, { retryAfterMs: 20 });
    stdin.write(lines(initialize, listing));
    await expect.poll(() => answers[2]).toMatchObject(listChanged);
  });

  test("an input that has already ended ends the connection", async () => {
    const stdin = new PassThrough();
    stdin.end();
    stdin.resume();
    await once(stdin, "end");
    await serveStdio(server.upstream.url, { stdin }).ended;
  });
});
