/**
 * Arguments in every form that a client sends: strict ones with null, JSON text, and maps as
 * lists of their entries.
 */
import { describe, expect, test } from "vitest";
import { removeMentions, toolNames } from "../tools/contract/index.ts";
import { errors } from "../tools/errors.ts";
import { catalogue } from "../tools/index.ts";
import { createToolReader } from "../tools/tool-call.ts";

const read = createToolReader(catalogue);

function inputOf(name: string, args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return read({ name, arguments: args, scopes: undefined, hiddenBy: () => undefined }).input;
}

const template = { to: "+14155550123", template_name: "hours", language: "en" };
const broadcast = { name: "June", cohort_id: "coh_1", template_id: "tpl_1" };
const flow = { name: "Hours", trigger_type: "keyword", trigger_keyword: "hours", end_action_type: "none" };

describe("a map", () => {
  test.each([
    ["as an object", { "1": "Ann", city: "Rome" }],
    [
      "as a list",
      [
        { name: "1", value: "Ann" },
        { name: "city", value: "Rome" },
      ],
    ],
    [
      "as a list with a number as a name",
      [
        { name: 1, value: "Ann" },
        { name: "city", value: "Rome" },
      ],
    ],
    ["as JSON text of either", '[{"name":"1","value":"Ann"},{"name":"city","value":"Rome"}]'],
  ])("of texts is read %s", (_, variables) => {
    const { template: sent } = inputOf("send_template_message", { ...template, variables });
    expect(sent).toMatchObject({ variables: { "1": "Ann", city: "Rome" } });
  });

  test.each([
    [
      "as an object",
      { "1": { attribute: "name", default: "there" }, "2": { value: "June" }, "3": "country" },
    ],
    [
      "as a list",
      [
        { name: "1", attribute: "name", default: "there", value: null },
        { name: "2", value: "June" },
        { name: "3", attribute: "country" },
      ],
    ],
    [
      "as a list of whole values",
      [
        { name: "1", value: { attribute: "name", default: "there" } },
        { name: "2", value: { value: "June" } },
        { name: "3", value: { attribute: "country" } },
      ],
    ],
  ])("of objects is read %s", (_, variable_mapping) => {
    const { variable_mapping: read } = inputOf("create_broadcast", { ...broadcast, variable_mapping });
    expect(read).toMatchObject({ "1": { attribute: "name", default: "there" }, "2": { value: "June" } });
    expect([{ attribute: "country" }, "country"]).toContainEqual((read as Record<string, unknown>)["3"]);
  });

  test.each([
    [
      "twice the same name",
      [
        { name: "1", value: "a" },
        { name: "1", value: "b" },
      ],
    ],
    ["an entry without a name", [{ value: "a" }]],
  ])("with %s is rejected", (_, variables) => {
    expect(() => inputOf("send_template_message", { ...template, variables })).toThrow(
      "variables: Each entry of the list needs a name of its own.",
    );
  });

  test("with an entry without a value is rejected", () => {
    const variables = [{ name: "1" }];
    expect(() => inputOf("send_template_message", { ...template, variables })).toThrow(
      "variables.1: It must be a text, and is an object.",
    );
  });
});

describe("an object of any members", () => {
  test("is read from JSON text at every depth, and its own texts stay texts", () => {
    const metadata = { note: "[1]", tier: 3 };
    expect(
      inputOf("create_contact", { phone_number: "+14155550123", metadata: JSON.stringify(metadata) }),
    ).toEqual({
      phone_number: "+14155550123",
      metadata,
    });
    const nodes = [{ id: "a", node_type: "send_message", action_config: '{"text":"Hi"}' }];
    expect(inputOf("create_flow", { ...flow, nodes: JSON.stringify(nodes) }).nodes).toMatchObject([
      { action_config: { text: "Hi" } },
    ]);
  });

  test("is rejected as another text", () => {
    expect(() => inputOf("create_contact", { phone_number: "+14155550123", metadata: "gold" })).toThrow(
      "metadata: It must be an object, and is a text.",
    );
  });
});

describe("null", () => {
  test("leaves out an optional argument at every depth, as clients in strict mode send it", () => {
    const node = { id: "a", node_type: "end", action_config: null, connection_type: null, sort_order: null };
    const [read] = inputOf("create_flow", { ...flow, priority: null, nodes: [node] }).nodes as object[];
    expect(read).toEqual({
      id: "a",
      node_type: "end",
      action_config: {},
      connection_type: "always",
      sort_order: 0,
    });
  });

  test("is no value of a required argument", () => {
    expect(() => inputOf("get_contact", { id: null })).toThrow("id");
  });

  test("is what an empty text means where a value can be removed", () => {
    expect(inputOf("update_broadcast", { id: "bc_1", scheduled_at: "" })).toEqual({
      id: "bc_1",
      scheduled_at: null,
    });
    expect(inputOf("update_broadcast", { id: "bc_1", scheduled_at: null })).toEqual({ id: "bc_1" });
    expect(inputOf("update_organization", { business_hours: "" })).toEqual({ business_hours: null });
    expect(inputOf("update_contact", { id: "con_1", name: "" })).toEqual({ id: "con_1", name: "" });
  });
});

test("the response of a rehearsed call has a body of any type, as text", () => {
  const responses = [
    { name: "call", status: 200, body: '{"stock":3}' },
    { name: "other", status: 200, body: "sold out" },
    { name: "third", error: "http_timeout", status: null, body: null },
  ];
  expect(inputOf("rehearse_flow", { flow_id: "flow_1", responses }).responses).toEqual({
    call: { status: 200, body: { stock: 3 } },
    other: { status: 200, body: "sold out" },
    third: { error: "http_timeout" },
  });
});

test("an unknown member is named by its path, also in JSON text", () => {
  const nodes = JSON.stringify([{ id: "a", node_type: "end", node: "b" }]);
  expect(() => inputOf("create_flow", { ...flow, nodes })).toThrow("Unknown argument: nodes[0].node.");
});

const known = toolNames(catalogue);
const advices = Object.entries(errors).flatMap(([code, { fix }]) => {
  const named = [...new Set((fix.match(/\w+/g) ?? []).filter((word) => known.includes(word)))];
  return named.length === 0
    ? []
    : [...named.map((name) => [name]), named].map((hidden) => ({ code, fix, hidden }));
});

test.each(advices)("the advice of $code reads well without $hidden", ({ fix, hidden }) => {
  const text = removeMentions(fix, new Set(hidden));
  expect(text).toMatch(/^$|^[^\s;,.].*[^\s;,]$/s);
  expect(text).not.toMatch(/\.[;,.]|[;,][;,.]| {2}/);
});
