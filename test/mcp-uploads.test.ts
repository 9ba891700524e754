/** upload_file over MCP: local files over stdio only, never over HTTP. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../src/client/index.ts";
import { serveOverStdio } from "../src/mcp/stdio/index.ts";
import { allScopes } from "../tools/contract/index.ts";
import { ownerKey, silentLog, useTestApp } from "./support/app.ts";
import { png } from "./support/files.ts";

const app = useTestApp();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidings-files-"));
  await mkdir(join(folder, "open", "inner"), { recursive: true });
  await mkdir(join(folder, "open-too"));
  for (const path of ["open/dot.png", "open/inner/dot.png", "open-too/dot.png", "secret.png"]) {
    await writeFile(join(folder, path), png);
  }
  await symlink(join(folder, "secret.png"), join(folder, "open", "link.png"));
  await symlink(folder, join(folder, "open", "out"));
  await symlink(join(folder, "open", "dot.png"), join(folder, "open", "alias.png"));
  await writeFile(join(folder, "open", "large.png"), Buffer.alloc(33_554_433));
});
afterAll(() => rm(folder, { recursive: true }));

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: { readonly data: { readonly file_name: string; readonly file_size: number } };
}

/** Connects to a server on stdio, with or without a folder that is open to uploads. */
async function connect(uploadRoot: string | undefined) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const client = createClient({ baseUrl: app.address, key: ownerKey });
  const discover = async () => ({ scopes: new Set(allScopes) });
  const connection = serveOverStdio({
    client,
    version: "0",
    log: silentLog,
    discoverAccess: discover,
    stdin,
    stdout,
    uploadRoot,
  });
  const answers = createInterface(stdout)[Symbol.asyncIterator]();
  let id = 0;
  const request = async (method: string, params: object): Promise<unknown> => {
    id += 1;
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return JSON.parse((await answers.next()).value).result;
  };
  const clientInfo = { name: "test", version: "0" };
  await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  return {
    async fields() {
      const { tools } = (await request("tools/list", {})) as {
        tools: { name: string; inputSchema: { properties: object } }[];
      };
      const tool = tools.find(({ name }) => name === "upload_file");
      return Object.keys(tool?.inputSchema.properties ?? {});
    },
    call: async (input: object) =>
      (await request("tools/call", { name: "upload_file", arguments: input })) as Result,
    async [Symbol.asyncDispose]() {
      stdin.end();
      await connection.close();
      await client.close();
    },
  };
}

describe("with a folder that is open to uploads", () => {
  let assistant: Awaited<ReturnType<typeof connect>>;
  beforeAll(async () => {
    assistant = await connect(join(folder, "open"));
  });
  afterAll(() => assistant[Symbol.asyncDispose]());

  test.each(["dot.png", "inner/dot.png", "./inner/../dot.png", "alias.png"])(
    "%s is accepted",
    async (path) => {
      const { structuredContent } = await assistant.call({ file_path: path });
      expect(structuredContent?.data).toMatchObject({ file_size: png.length });
    },
  );

  test("an absolute path into the folder is accepted", async () => {
    const { structuredContent } = await assistant.call({ file_path: join(folder, "open", "dot.png") });
    expect(structuredContent?.data.file_name).toBe("dot.png");
  });

  test.each([
    "../secret.png",
    "inner/../../secret.png",
    "/etc/passwd",
    "../open-too/dot.png",
    "link.png",
    "out/secret.png",
    "inner",
    ".",
    "none.png",
  ])("%s is rejected with the same error as a missing file", async (path) => {
    const { isError, content } = await assistant.call({ file_path: path });
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain("file_path_not_allowed");
  });

  test("more than 32 MB are rejected before they are read", async () => {
    const { content } = await assistant.call({ file_path: "large.png" });
    expect(content[0]?.text).toContain("file_too_large");
  });

  test("exactly one source is accepted, and the error names them", async () => {
    const url = "https://example.com/dot.png";
    for (const input of [{}, { file_path: "dot.png", url }, { content_base64: "AAAA", url }]) {
      const { content } = await assistant.call(input);
      expect(content[0]?.text).toContain("exactly one of file_path, content_base64 and url");
    }
  });

  test("a small file can be sent as base64", async () => {
    const given = { content_base64: png.toString("base64"), file_name: "dot.png" };
    expect((await assistant.call(given)).structuredContent?.data).toMatchObject({ file_name: "dot.png" });
  });

  test("the tool has the field file_path", async () => {
    expect(await assistant.fields()).toContain("file_path");
  });
});

test("without an open folder the field does not exist", async () => {
  await using assistant = await connect(undefined);
  expect(await assistant.fields()).not.toContain("file_path");
  const { content } = await assistant.call({ file_path: join(folder, "open", "dot.png") });
  expect(content[0]?.text).toContain("unknown_argument");
});

test("over HTTP and REST the field does not exist", async () => {
  const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
  const params = { name: "upload_file", arguments: { file_path: "/etc/passwd" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const overMcp = await app.fetch("/mcp", { method: "POST", headers, body });
  expect(await overMcp.text()).toContain("unknown_argument");
  const overRest = await app.fetch("/v1/mcp/tools/call", { method: "POST", json: params });
  expect([overRest.status, await overRest.json()]).toMatchObject([
    400,
    { error: { code: "unknown_argument" } },
  ]);
  expect(await (await app.fetch("/v1/mcp/tools")).text()).not.toContain("file_path");
});

test("a small file is accepted over the REST route of tools", async () => {
  const given = { content_base64: png.toString("base64"), file_name: "dot.png" };
  const answer = await app.fetch("/v1/mcp/tools/call", {
    method: "POST",
    json: { name: "upload_file", arguments: given },
    headers: { "idempotency-key": "small file" },
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("dot.png")]);
});
