/** Rules for every tool: names, texts and schemas that every client accepts, and a snapshot of each. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { tools as listedTools } from "../src/mcp/tool-list/definitions.ts";
import { operationsOf } from "../src/platform/index.ts";
import {
  describeTools,
  hintNames,
  type JsonSchema,
  type Operation,
  toolNames,
} from "../tools/contract/index.ts";
import { catalogue } from "../tools/index.ts";

const tools = describeTools(catalogue);
const built = toolNames(operationsOf());
const operations: Readonly<Record<string, Operation>> = catalogue;

test("names are unique", () => {
  const names = tools.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
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
    for (const schema of [tool.inputSchema, tool.outputSchema]) {
      expect([...findFaults(schema, "")]).toEqual([]);
    }
    expect([...findInputFaults(tool.inputSchema, "")]).toEqual([]);
  });

  test("lists the fields of its data by name alone", () => {
    const { outputSchema } = listedTools.find((one) => one.name === name)?.definition ?? {};
    const { data, ...others } = (outputSchema?.properties ?? {}) as Record<string, JsonSchema>;
    expect(Object.values(others)).toEqual(Object.values(others).map(() => ({})));
    const fields = (data?.items ?? data) as JsonSchema;
    const whole = (tool.outputSchema.properties as Record<string, JsonSchema>).data;
    const wholeFields = (whole?.items ?? whole) as JsonSchema;
    const names = Object.keys((wholeFields.properties ?? {}) as object);
    expect(fields.properties ?? {}).toEqual(Object.fromEntries(names.map((field) => [field, {}])));
  });

  test("has hints that match its method, each with its reason", () => {
    const { method, effect } = operations[tool.operation] ?? {};
    const { readOnly, destructive } = tool.hints;
    expect(readOnly.is).toBe(method === "GET" || effect === "read");
    expect(readOnly.is && destructive.is).toBe(false);
    expect(method !== "DELETE" || destructive.is).toBe(true);
    for (const hint of hintNames) {
      expect(tool.hints[hint].because, hint).toMatch(/^[A-Z].{10,}\.$/);
    }
  });

  test("matches its snapshot", async () => {
    await expect(`${JSON.stringify(tool, null, 2)}\n`).toMatchFileSnapshot(`snapshots/${name}.json`);
  });

  test("is in the reference if it is implemented", async () => {
    const reference = await readFile("docs/reference/operations.md", "utf8");
    expect(reference.includes(`\`${name}\``)).toBe(built.includes(name));
  });
});

test("a tool is destructive if its call can't be undone or sends something out", () => {
  const destructive = tools.filter(({ operation, hints }) => {
    const { method } = operations[operation] ?? {};
    return hints.destructive.is && method !== "DELETE";
  });
  expect(destructive.map(({ name }) => name)).toEqual([
    "tag_contact",
    "update_conversation",
    "send_message",
    "send_media_message",
    "send_template_message",
    "send_rich_message",
    "send_interactive_message",
    "submit_template",
    "tag_contacts",
    "create_broadcast",
    "update_broadcast",
    "execute_broadcast",
    "resume_broadcast",
    "cancel_broadcast",
    "retry_broadcast",
    "test_broadcast",
    "update_inbox",
    "connect_inbox",
    "create_flow",
    "update_flow",
    "trigger_flow",
    "toggle_flow",
    "cancel_flow_run",
    "update_document",
    "refresh_document",
    "import_contacts",
    "create_webhook",
    "test_webhook",
    "update_webhook",
    "rotate_webhook_secret",
    "replay_webhook_delivery",
    "recover_webhook_deliveries",
    "subscribe_chatbot_addon",
    "verify_payment",
    "run_plan",
  ]);
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

/** What the converters of clients lose or reject: `npm run converters` runs them. */
function* findInputFaults(schema: JsonSchema, path: string): Generator<string> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  if (schema.format !== undefined && schema.format !== "date-time") {
    yield `${path}: format ${schema.format}`;
  }
  if (schema.default !== undefined) {
    yield `${path}: a default`;
  }
  if (typeof schema.type !== "string") {
    yield `${path}: no type`;
  }
  if (schema.type === "object" && schema.additionalProperties !== (schema.properties === undefined)) {
    yield `${path}: neither open nor closed`;
  }
  for (const [name, property] of properties) {
    yield* findInputFaults(property, `${path}.${name}`);
  }
  if (schema.items !== undefined) {
    yield* findInputFaults(schema.items as JsonSchema, `${path}[]`);
  }
}
