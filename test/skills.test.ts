/** The skills: what they name exists and can be called, and every official client can read them. */
import { readdir, readFile } from "node:fs/promises";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { skills } from "../src/mcp/skills/definitions.ts";
import { isRead, type ListedTool, tools } from "../src/mcp/tool-list/index.ts";
import { catalogue } from "../tools/index.ts";
import { createToolReader } from "../tools/tool-call.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { connectAssistant } from "./support/assistant.ts";
import { clientInfo, stdioProgram, useMcpServer } from "./support/mcp-clients.ts";

const server = useMcpServer();
const app = useTestApp();
const byName = new Map<string, ListedTool>(tools.map((tool) => [tool.name, tool]));
const gateways = ["search_tools", "run_read_tool", "run_write_tool"];
const skillNames = ["build-flow", "connect-whatsapp", "run-campaign", "triage-inbox", "write-template"];

/** Every word that a field, value, error or event has, by the catalogue and the documentation of formats. */
async function knownWords(): Promise<ReadonlySet<string>> {
  const files = (await readdir("docs", { recursive: true })).filter((file) => file.endsWith(".md"));
  const texts = await Promise.all(files.map((file) => readFile(`docs/${file}`, "utf8")));
  return new Set([JSON.stringify(tools), ...texts].join("\n").match(/\w+/g));
}

interface SkillText {
  readonly name: string;
  readonly requires: readonly string[];
  readonly body: string;
  /** The texts in backticks outside of examples. */
  readonly quoted: readonly string[];
  /** The examples, as JSON. */
  readonly examples: readonly unknown[];
}

function readSkill({ entry, text }: (typeof skills)[number]): SkillText {
  const [, body = ""] = /^---\n[\s\S]*?\n---\n([\s\S]*)$/.exec(text) ?? [];
  const prose = body.replace(/```[\s\S]*?```/g, "");
  const { requires } = entry.frontmatter.metadata as { requires: string };
  return {
    name: entry.frontmatter.name,
    requires: requires.split(" "),
    body,
    quoted: Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, quoted = ""]) => quoted),
    examples: Array.from(body.matchAll(/```json\n([\s\S]*?)```/g), ([, json = ""]) => JSON.parse(json)),
  };
}

const texts = skills.map(readSkill);
const textOf = (name: string) => texts.find((skill) => skill.name === name);

/** `tool(argument, argument=value)` or the name alone; undefined for a text that names no tool. */
function readCall(quoted: string) {
  const [, name = "", list = ""] = /^(\w+)(?:\((.*)\))?$/.exec(quoted) ?? [];
  const tool = byName.get(name);
  const args = list === "" ? [] : list.split(", ").map((one) => one.split("="));
  return tool && { tool, args };
}

const propertiesOf = ({ definition }: ListedTool) =>
  (definition.inputSchema.properties ?? {}) as Readonly<Record<string, { enum?: readonly unknown[] }>>;

test("there are five, each one file of at most 150 lines with a name and a description", async () => {
  expect(texts.map(({ name }) => name)).toEqual(skillNames);
  for (const { entry, text } of skills) {
    const { name, description } = entry.frontmatter;
    expect(await readdir(`skills/${name}`)).toEqual(["SKILL.md"]);
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(description.length).toBeLessThanOrEqual(1024);
    expect(description).toMatch(/\bUse it\b/);
    expect(text.split("\n").length).toBeLessThanOrEqual(150);
  }
});

describe.each(texts)("the skill $name", ({ requires, body, quoted }) => {
  const calls = quoted.flatMap((text) => readCall(text) ?? []);

  test("requires tools that exist and that it explains", () => {
    expect(requires.filter((name) => !byName.has(name))).toEqual([]);
    const named = new Set(calls.map(({ tool }) => tool.name));
    expect(requires.filter((name) => !named.has(name))).toEqual([]);
  });

  test("names arguments and values that its tools take, and all that they require", () => {
    const wrong = calls.flatMap(({ tool, args }) => {
      const properties = propertiesOf(tool);
      const unknown = args.filter(([name = "", value]) => {
        const allowed = properties[name]?.enum;
        return (
          !Object.hasOwn(properties, name) || (value !== undefined && allowed?.includes(value) === false)
        );
      });
      const required = args.length === 0 ? [] : ((tool.definition.inputSchema.required ?? []) as string[]);
      const missing = required.filter((name) => !args.some(([given]) => given === name));
      return [
        ...unknown.map(([name]) => `${tool.name}(${name})`),
        ...missing.map((name) => `${tool.name}: ${name}`),
      ];
    });
    expect(calls.length).toBeGreaterThan(5);
    expect(wrong).toEqual([]);
  });

  test("says through which gateway each tool is reached that is not listed by default", () => {
    const unlisted = calls.map(({ tool }) => tool).filter(({ tier }) => tier === "extended");
    const unsaid = unlisted.filter((tool) => {
      const gateway = isRead(tool) ? "run_read_tool" : "run_write_tool";
      return !new RegExp(`\`${tool.name}(\\([^)]*\\))?\` through \`${gateway}\``).test(body);
    });
    expect(unsaid.map(({ name }) => name)).toEqual([]);
  });

  test("names nothing in backticks that the catalogue and the documentation do not know", async () => {
    const known = await knownWords();
    const words = quoted.filter((text) => !readCall(text)).flatMap((text) => text.match(/\w+/g) ?? []);
    expect(words.filter((word) => !known.has(word) && !gateways.includes(word))).toEqual([]);
    // A call with a misspelt tool is not read as a call.
    expect(quoted.filter((text) => /^\w+\(/.test(text) && !readCall(text))).toEqual([]);
  });
});

describe("an example is accepted as the arguments of its tool:", () => {
  const readInput = createToolReader(catalogue);
  const [template] = textOf("write-template")?.examples ?? [];
  const [mapping] = textOf("run-campaign")?.examples ?? [];
  const [nodes] = textOf("build-flow")?.examples ?? [];
  const [inbox] = textOf("connect-whatsapp")?.examples ?? [];
  const draft = { name: "Spring", cohort_id: "coh_1", template_id: "tpl_1", variable_mapping: mapping };

  test.each<[string, unknown]>([
    ["create_template", template],
    ["create_broadcast", draft],
    ["rehearse_flow", { nodes, end_action_type: "none" }],
    ["create_inbox", JSON.parse(JSON.stringify(inbox).replaceAll('"…"', '"0123456789"'))],
  ])("%s", (name, example) => {
    const request = { name, scopes: undefined, hiddenBy: () => undefined };
    const { operation, input } = readInput({ ...request, arguments: example as Record<string, unknown> });
    expect(operation.input.safeParse(input).error).toBeUndefined();
  });
});

test("the example of a template has no warnings, and that of a flow runs to its end", async () => {
  const [template] = textOf("write-template")?.examples ?? [];
  const [nodes] = textOf("build-flow")?.examples ?? [];
  await using assistant = await connectAssistant(app, ownerKey);
  const { data } = await assistant.call("create_template", template as Record<string, unknown>);
  expect(data).toMatchObject({ status: "draft", warnings: [] });
  const rehearse = (script: object[]) =>
    assistant.call("rehearse_flow", { nodes, end_action_type: "none", message: "offer", script });
  const answered = await rehearse([{ text: "no address" }, { text: "ann@example.com" }]);
  expect(answered.data).toMatchObject({ status: "completed", unused_script: [] });
  expect(JSON.stringify(answered.data)).toContain("It goes to ann@example.com.");
  const silent = await rehearse([]);
  expect(JSON.stringify(silent.data)).toContain("no-answer");
});

const pinned = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

type Transport = (key: string) => HttpV2 | StdioV2;
const overHttp: Transport = (key) =>
  new HttpV2(new URL(server.url), { requestInit: { headers: { "x-api-key": key } } });
const overStdio: Transport = (key) => new StdioV2(stdioProgram(server.upstream, key));

async function connect(transport: Transport, options: object, key = "sk_live_all") {
  const client = new ClientV2(clientInfo, options);
  onTestFinished(() => client.close());
  await client.connect(transport(key));
  return client;
}

describe("a client of the extension lists, gets, reads and verifies each skill", () => {
  test.each<[string, Transport, object]>([
    ["over HTTP, 2026-07-28", overHttp, pinned],
    ["over HTTP, 2025 handshake", overHttp, {}],
    ["over stdio, 2026-07-28", overStdio, pinned],
    ["over stdio, 2025 handshake", overStdio, {}],
  ])("%s", async (_, transport, options) => {
    const reader = new SkillsClient(await connect(transport, options));
    expect([reader.supported, reader.directoryRead]).toEqual([true, false]);
    const { skills: entries } = await reader.list();
    expect(entries).toEqual(skills.map(({ entry }) => entry));
    for (const { entry, text } of skills) {
      expect((await reader.get(entry.uri)).skill).toEqual(entry);
      expect(await reader.read(entry)).toMatchObject({ text, verified: true, mimeType: "text/markdown" });
    }
    await expect(reader.get("skill://no-such/SKILL.md")).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining("skills/list has the addresses"),
    });
  });
});

test.each<[string, () => HttpV1 | StdioV1]>([
  [
    "HTTP",
    () => new HttpV1(new URL(server.url), { requestInit: { headers: { "x-api-key": "sk_live_all" } } }),
  ],
  ["stdio", () => new StdioV1(stdioProgram(server.upstream, "sk_live_all"))],
])("a client without the extension reads each skill as a resource, over %s", async (_, transport) => {
  const client = new ClientV1(clientInfo);
  onTestFinished(() => client.close());
  await (client as { connect(to: HttpV1 | StdioV1): Promise<void> }).connect(transport());
  const { resources } = await client.listResources();
  for (const { entry, text } of skills) {
    const { uri, frontmatter } = entry;
    const { name, description } = frontmatter;
    expect(resources).toContainEqual({ uri, name, description, mimeType: "text/markdown" });
    const { contents } = await client.readResource({ uri });
    expect(contents).toEqual([{ uri, mimeType: "text/markdown", text }]);
  }
});

test.each<[string, string[]]>([
  ["sk_live_reader", []],
  ["sk_live_planner", ["run-campaign"]],
])("a caller is offered only skills whose tools it may call: %s", async (key, offered) => {
  const client = await connect(overHttp, pinned, key);
  const reader = new SkillsClient(client);
  const { skills: entries } = await reader.list();
  expect(entries.map(({ frontmatter }) => frontmatter.name)).toEqual(offered);
  const { resources } = await client.listResources();
  const listed = resources.map(({ uri }) => uri).filter((uri) => uri.startsWith("skill://"));
  expect(listed).toEqual(entries.map(({ uri }) => uri));
  const uri = "skill://triage-inbox/SKILL.md";
  await expect(reader.get(uri)).rejects.toMatchObject({ code: -32_602 });
  await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_602 });
});
