/** The links that install the MCP server in clients: what the clients decode starts it. */
import { resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import type { McpServerEntry } from "../src/cli/mcp/server-entry.ts";
import { runCommand } from "./support/command.ts";
import { clientInfo, stdioProgram, useMcpServer } from "./support/mcp-clients.ts";
import { programPath } from "./support/process.ts";

const server = useMcpServer();

interface Links {
  readonly vscode: string;
  readonly cursor: string;
  readonly lm_studio: string;
}

async function printLinks(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { argv } = process;
  process.argv = [process.execPath, resolve(programPath), ...args];
  try {
    const { status, stdout, stderr } = await runCommand(["install-links", ...args], env);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return stdout;
  } finally {
    process.argv = argv;
  }
}

/** As the clients' documentation says. */
function decode({ vscode, cursor, lm_studio }: Links) {
  const [prefix, json = ""] = vscode.split("?");
  expect(prefix).toBe("vscode:mcp/install");
  const { name, type, ...entry } = JSON.parse(decodeURIComponent(json));
  expect({ name, type }).toEqual({ name: "tidings", type: "stdio" });
  return {
    vscode: entry as McpServerEntry,
    cursor: decodeParameters(cursor, "cursor://anysphere.cursor-deeplink/mcp/install"),
    lm_studio: decodeParameters(lm_studio, "lmstudio://add_mcp"),
  };
}

function decodeParameters(link: string, address: string): McpServerEntry {
  const { searchParams } = new URL(link);
  expect(link.split("?")[0]).toBe(address);
  expect(searchParams.get("name")).toBe("tidings");
  return JSON.parse(atob(searchParams.get("config") ?? ""));
}

test("links have the absolute paths of this machine, whatever letters they have", async () => {
  const links = JSON.parse(await printLinks(["--json", "--data-dir", "a b/ü+%😀"]));
  const entry = {
    command: process.execPath,
    args: [resolve(programPath), "mcp"],
    env: { TIDINGS_DATA_DIR: resolve("a b/ü+%😀") },
  };
  const lean = { ...entry, env: { ...entry.env, TIDINGS_TOOL_MODE: "lean" } };
  expect(decode(links)).toEqual({ vscode: entry, cursor: lean, lm_studio: entry });
  const text = await printLinks(["--data-dir", "a b/ü+%😀"]);
  expect(text).not.toContain("<API key>");
  for (const link of Object.values(links)) {
    expect(text).toContain(`  ${link}\n`);
  }
});

test("links to a service elsewhere have its address and no key", async () => {
  const env = { TIDINGS_BASE_URL: "https://tidings.example.com", TIDINGS_API_KEY: "sk_live_secret" };
  const { vscode } = decode(JSON.parse(await printLinks(["--json"], env)));
  expect(vscode.env).toEqual({ ...env, TIDINGS_API_KEY: "<API key>" });
  expect(await printLinks([], env)).toMatch(/\nThen replace <API key> in the client's configuration\.\n$/);
});

test("links forward to the service where it uses PostgreSQL, which has no data folder", async () => {
  const env = { DATABASE_URL: "postgres://localhost/tidings", HOST: "0.0.0.0", PORT: "3100" };
  const { cursor } = decode(JSON.parse(await printLinks(["--json"], env)));
  expect(cursor.env).toMatchObject({ TIDINGS_BASE_URL: "http://127.0.0.1:3100" });
});

test("what each client decodes starts the server, Cursor's with the shorter list", async () => {
  const upstream = { TIDINGS_BASE_URL: server.upstream.url, TIDINGS_API_KEY: "sk_live_all" };
  const entries = Object.entries(decode(JSON.parse(await printLinks(["--json"], upstream))));
  const counts = entries.map(async ([name, { command, args, env }]) => {
    const client = new Client(clientInfo);
    const { env: own } = stdioProgram(server.upstream, "sk_live_all");
    const filled = { ...own, ...env, TIDINGS_API_KEY: "sk_live_all" };
    await client.connect(new StdioClientTransport({ command, args: [...args], env: filled, stderr: "pipe" }));
    const { tools } = await client.listTools();
    await client.close();
    return [name, tools.length > 40 ? "core" : "lean"];
  });
  expect(Object.fromEntries(await Promise.all(counts))).toEqual({
    vscode: "core",
    cursor: "lean",
    lm_studio: "core",
  });
});

test("no link has the address of a service whose port is another one at each start", async () => {
  expect(await runCommand(["install-links"], { DATABASE_URL: "postgres://x/y", PORT: "0" })).toEqual({
    status: 1,
    stdout: "",
    stderr:
      "tidings: With PORT=0 the service has another port at each start, so that no link reaches it. Set PORT to the port on which you start it.\n",
  });
});
