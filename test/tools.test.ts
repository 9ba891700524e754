/** Rules for every tool: names, texts and schemas that every client accepts, and a snapshot of each. */
import { readFile } from "node:fs/promises";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { tools as listedTools } from "../src/mcp/tool-list/definitions.ts";
import { operationsOf } from "../src/platform/index.ts";
import { describeTools, type JsonSchema, type Operation, toolNames } from "../tools/contract/index.ts";
import { catalogue } from "../tools/index.ts";

const tools = describeTools(catalogue);
const built = toolNames(operationsOf());
const operations: Readonly<Record<string, Operation>> = catalogue;

test("names are unique", () => {
  const names = tools.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test("the default list is within its budget of tokens", () => {
  const core = tools.filter(({ operation }) => operations[operation]?.tier === "core");
  const sizes = core
    .map(({ name, description, inputSchema }) =>
      countTokens(JSON.stringify({ name, description, inputSchema })),
    )
    .sort((a, b) => a - b);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(11_000);
  expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(130);
  expect(sizes.at(-1)).toBeLessThanOrEqual(500);
});

describe.each(tools.map((tool) => [tool.name, tool] as const))("%s", (name, tool) => {
  test("has a valid name, title and description", () => {
    expect(name).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
    expect(name.length).toBeLessThanOrEqual(40);
    expect(tool.title.length).toBeGreaterThan(2);
    expect(tool.description).toMatch(/^[A-Z].*[.)]$/);
    expect(tool.description.length).toBeLessThanOrEqual(400);
  });

  test("describes every parameter", () => {
    const properties = (tool.inputSchema.properties ?? {}) as Record<string, JsonSchema>;
    for (const [field, schema] of Object.entries(properties)) {
      expect(schema.description, field).toEqual(expect.any(String));
    }
  });

  test("has schemas that every client accepts", () => {
    expect(tool.inputSchema).toMatchObject({ type: "object", properties: {}, additionalProperties: false });
    expect(tool.outputSchema).toMatchObject({ type: "object" });
    expect(tool.outputSchema).not.toHaveProperty("additionalProperties");
    const listed = listedTools.find((one) => one.name === name)?.definition;
    const listedSchemas = [listed?.inputSchema ?? {}, listed?.outputSchema ?? {}];
    for (const schema of [tool.inputSchema, tool.outputSchema, ...listedSchemas]) {
      expect([...findFaults(schema, "")]).toEqual([]);
    }
  });

  test("has hints that match its method", () => {
    const { method, effect } = operations[tool.operation] ?? {};
    expect(tool.hints.readOnly).toBe(method === "GET" || effect === "read");
    expect(tool.hints.readOnly && tool.hints.destructive).toBe(false);
    expect(method !== "DELETE" || tool.hints.destructive).toBe(true);
  });

  test("matches its snapshot", async () => {
    await expect(`${JSON.stringify(tool, null, 2)}\n`).toMatchFileSnapshot(`snapshots/${name}.json`);
  });

  test("is in the reference if it is implemented", async () => {
    const reference = await readFile("docs/reference/operations.md", "utf8");
    expect(reference.includes(`\`${name}\``)).toBe(built.includes(name));
  });
});

const unportable = [
  "$ref",
  "$defs",
  "$schema",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "const",
  "prefixItems",
];
const formats = ["date-time", "email", "uri"];

/** Each line of this has broken a real client. */
function* findFaults(schema: JsonSchema, path: string): Generator<string> {
  for (const keyword of unportable.filter((word) => word in schema)) {
    yield `${path}: ${keyword}`;
  }
  if (path === "" && ["anyOf", "oneOf", "allOf"].some((word) => word in schema)) {
    yield "a union at the root";
  }
  if (Array.isArray(schema.type)) {
    yield `${path}: a list of types`;
  }
  if (schema.type === "array" && schema.items === undefined) {
    yield `${path}: an array without items`;
  }
  if (typeof schema.format === "string" && !formats.includes(schema.format)) {
    yield `${path}: format ${schema.format}`;
  }
  if (typeof schema.pattern === "string" && /\(\?[=!<]/.test(schema.pattern)) {
    yield `${path}: look-around`;
  }
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  for (const [name, property] of Object.entries(properties)) {
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) {
      yield `${path}.${name}: not a name`;
    }
    yield* findFaults(property, `${path}.${name}`);
  }
  for (const inner of [schema.items, ...((schema.anyOf as JsonSchema[] | undefined) ?? [])]) {
    if (typeof inner === "object" && inner !== null) {
      yield* findFaults(inner as JsonSchema, `${path}[]`);
    }
  }
}
