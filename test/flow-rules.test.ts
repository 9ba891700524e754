/** The rules for a graph that is saved: each names the node and the field. */
import { describe, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import type { InputOf } from "../tools/contract/index.ts";
import { flows } from "../tools/flows/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { chain, createFlowHelpers, type NewNode, say } from "./support/flows.ts";

const app = useTestApp();
const { create } = createFlowHelpers(app);

const below = (parent_node_id: string, node: NewNode): NewNode => ({ ...node, parent_node_id });
const edge = (
  connection_type: NewNode["connection_type"],
  node: NewNode,
  connection_value?: string,
): NewNode => ({
  ...below("a", node),
  connection_type,
  connection_value,
});
const node = (node_type: NewNode["node_type"], action_config: NewNode["action_config"] = {}): NewNode => ({
  id: "a",
  node_type,
  action_config,
});
const buttons = { interactive: { body: "Yes?", buttons: [{ id: "yes", title: "Yes" }] } };

const goto = (node_id: string, id = "g"): NewNode => ({ ...node("goto", { node_id }), id });

/** Each graph with the field that is wrong, and a part of the message. */
const invalid: readonly (readonly [string, NewNode[], string, RegExp])[] = [
  [
    "a variable that a run would not show",
    [node("ask", { text: "?", save_as: "__proto__" })],
    "nodes[0].action_config.save_as",
    /reserved/,
  ],
  ["two first nodes", [say("a"), say("b")], "nodes[1].parent_node_id", /one first node/],
  ["no first node", [below("b", say("a")), below("a", say("b"))], "nodes", /no first node/],
  ["an id twice", [say("a"), below("a", say("x", "a"))], "nodes[1].id", /another node a/],
  [
    "an unknown parent",
    [say("start"), below("strat", say("b"))],
    "nodes[1].parent_node_id",
    /Did you mean start/,
  ],
  [
    "a cycle",
    [say("a"), below("c", say("b")), below("b", say("c"))],
    "nodes[1].parent_node_id",
    /its own ancestor/,
  ],
  [
    "an unknown field",
    [node("send_message", { text: "x", body: "x" })],
    "nodes[0].action_config.body",
    /Unknown/,
  ],
  ["no content", [node("send_message")], "nodes[0].action_config", /exactly one of text, media/],
  [
    "an unknown goto",
    chain(say("a"), { ...node("goto", { node_id: "b" }), id: "g" }),
    "nodes[1].action_config.node_id",
    /no node b/,
  ],
  [
    "half a condition",
    [node("condition", { query: {} }), edge("condition_true", say("b"))],
    "nodes[0].node_type",
    /both cases/,
  ],
  [
    "a query that is not valid",
    [node("condition", { query: { attribute: "nam", operator: "eq", value: "x" } })],
    "nodes[0].action_config.query.attribute",
    /nam/,
  ],
  [
    "a time-out below a message",
    [say("a"), edge("timeout", say("b"))],
    "nodes[1].connection_type",
    /can't be connected by timeout/,
  ],
  [
    "a node below a goto",
    [say("r"), { ...below("r", node("goto", { node_id: "r" })) }, edge("always", say("b"))],
    "nodes[2].connection_type",
    /can't be connected/,
  ],
  [
    "an unknown button",
    [node("send_message", buttons), edge("button", say("b"), "no")],
    "nodes[1].connection_value",
    /no button no/,
  ],
  [
    "a keyword without a word",
    [node("wait_for_reply"), edge("keyword", say("b"), " ")],
    "nodes[1].connection_value",
    /needs a keyword/,
  ],
  [
    "a regex that is not RE2",
    [node("wait_for_reply"), edge("keyword", say("b"), "regex:(?=a)")],
    "nodes[1].connection_value",
    /RE2/,
  ],
  [
    "a duration of 31 days",
    [node("wait", { duration: "31d" })],
    "nodes[0].action_config.duration",
    /1s to 30d/,
  ],
  [
    "an unknown placeholder",
    [say("Hi {{contact.nmae}}", "a")],
    "nodes[0].action_config.text",
    /Did you mean contact.name/,
  ],
  ["a variable that is not saved", [say("{{vars.city}}", "a")], "nodes[0].action_config.text", /vars.city/],
  [
    "a placeholder with a filter",
    [say("{{contact.name | upcase}}", "a")],
    "nodes[0].action_config.text",
    /not valid/,
  ],
  [
    "an unknown kind of answer",
    [node("ask", { text: "x", validate: "mail" })],
    "nodes[0].action_config.validate",
    /one of these: text, number, email/,
  ],
  [
    "an attribute with a list",
    [node("set_attribute", { name: "x", value: [1] })],
    "nodes[0].action_config.value",
    /a number, true, false/,
  ],
  ["an unknown team", [node("assign", { team_id: "team_x" })], "nodes[0].action_config.team_id", /no team/],
  [
    "an unknown template",
    [node("send_template", { template_id: "tpl_x" })],
    "nodes[0].action_config.template_id",
    /no template/,
  ],
  [
    "an unknown flow",
    [node("start_flow", { flow_id: "flow_x" })],
    "nodes[0].action_config.flow_id",
    /no flow/,
  ],
];

/** Graphs that come back to a node, with the node that sends without waiting; undefined: it waits. */
const cycles: readonly (readonly [string, NewNode[], string | undefined])[] = [
  ["a message and a goto", chain(say("a"), goto("a")), "nodes[0].id"],
  [
    "a goto beside the message",
    [node("add_tag", { tag: "x" }), below("a", say("b")), below("a", goto("a"))],
    "nodes[1].id",
  ],
  [
    "the error of a template",
    [
      node("send_template", { name: "a_b", language: "en" }),
      { ...edge("error", goto("a")), parent_node_id: "a" },
    ],
    "nodes[0].id",
  ],
  [
    "a wait until the opening time, which may be now",
    chain(say("a"), { ...node("wait", { business_hours: true }), id: "w" }, goto("a")),
    "nodes[0].id",
  ],
  ["a flow that is started", chain(node("start_flow", { flow_id: "f" }), goto("a")), "nodes[0].id"],
  ["a wait", chain(say("a"), { ...node("wait", { duration: "1m" }), id: "w" }, goto("a")), undefined],
  ["a question", chain(node("ask", { text: "?" }), say("b"), goto("a")), undefined],
  ["a wait for a reply", chain(say("a"), { ...node("wait_for_reply"), id: "w" }, goto("a")), undefined],
  [
    "a wait below the message, and a goto beside it",
    [
      node("add_tag", { tag: "x" }),
      below("a", say("b")),
      below("b", { ...node("wait", { duration: "1m" }), id: "w" }),
      below("a", goto("a")),
    ],
    undefined,
  ],
  [
    "buttons that are waited for",
    [node("send_message", buttons), { ...edge("button", goto("a"), "yes") }],
    undefined,
  ],
  [
    "a condition that leads to the message in one case alone",
    [
      node("condition", { query: { attribute: "name", operator: "exists" } }),
      edge("condition_true", say("b")),
      edge("condition_false", { ...node("wait", { duration: "1m" }), id: "w" }),
      below("w", goto("a")),
    ],
    undefined,
  ],
];

test.each(cycles)("a cycle by %s is rejected if it sends without waiting", async (_, nodes, field) => {
  const { id } = await create([say("x")], { trigger_keyword: "started" });
  const known = nodes.map((one): NewNode => {
    return one.node_type === "start_flow" ? { ...one, action_config: { flow_id: id } } : one;
  });
  const result = app.call(flows.rehearse_flow, { nodes: known });
  const details = field === undefined ? [] : ((await expectFailure(result)).error?.details ?? []);
  await (field === undefined ? result : undefined);
  expect(details).toMatchObject(
    field === undefined ? [] : [{ field, message: expect.stringMatching(/without a wait/) }],
  );
});

test("a template that can't be sent is a warning", async () => {
  const template = { name: "nowhere_known", language: "en" };
  const { warnings } = await create([node("send_template", template)], { trigger_keyword: "template" });
  expect(warnings).toMatchObject([
    {
      field: "nodes[0].action_config.name",
      code: "unknown_template",
      message: expect.stringMatching(/no template/),
    },
  ]);
});

test("a placeholder of a text body whose type is not known, or outside of JSON's texts, is a warning", async () => {
  const save = async (body: unknown, type?: string) => {
    const headers = type === undefined ? undefined : { "Content-Type": type };
    const config = { url: "https://example.com", method: "POST", body, headers };
    const nodes = [node("http_request", config)];
    const { id, warnings } = await create(nodes, { trigger_keyword: "body" });
    await app.call(flows.delete_flow, { id });
    return warnings.map(({ field, code }) => `${field} ${code}`);
  };
  const warning = ["nodes[0].action_config.body placeholder_not_encoded"];
  expect(await save("{{message.text}}", "text/csv")).toEqual(warning);
  expect(await save("{{message.text}}", "{{contact.name}}")).toEqual(warning);
  expect(await save('{"a":{{message.text}}}', "application/json")).toEqual(warning);
  expect(await save('{"a":"{{message.text}}"}', "application/vnd.api+json")).toEqual([]);
  expect(await save("a={{message.text}}", "application/x-www-form-urlencoded; charset=utf-8")).toEqual([]);
  expect(await save("{{message.text}}")).toEqual([]);
  expect(await save({ a: "{{message.text}}" }, "text/csv")).toEqual([]);
});

describe("a flow is rejected with", () => {
  test.each(invalid)("%s", async (_name, nodes, field, message) => {
    const { status, error } = await expectFailure(create(nodes));
    const details = (error?.details ?? []) as { field: string; message: string }[];
    expect(status).toBe(400);
    expect(details.map((one) => one.field)).toContain(field);
    expect(details.find((one) => one.field === field)?.message).toMatch(message);
  });

  test("an unknown field of a node, its nearest name and all names", async () => {
    const nodes = [
      node("ask", { text: "Your mail?", save_as: "mail", validat: "email" }),
      edge("always", say("x")),
    ];
    const thanks = below("x", say("Thanks, {{vars.mail}}", "c"));
    const { error } = await expectFailure(create([...nodes, thanks]));
    expect(error?.details).toEqual([
      {
        field: "nodes[0].action_config.validat",
        code: "unknown_argument",
        message: "Unknown argument validat. Did you mean validate?",
        fix: expect.stringMatching(/ask takes text, interactive, save_as, validate, retries/),
      },
    ]);
  });

  test("a misspelt type of node, and the nearest", async () => {
    const nodes = [{ id: "a", node_type: "send_mesage", action_config: { text: "x" } }];
    const { error } = await expectFailure(create(nodes as unknown as NewNode[]));
    expect(JSON.stringify(error?.details)).toMatch(
      /send_message, send_template.*Did you mean send_message\?/,
    );
  });

  test("a trigger or an end action that is not valid", async () => {
    const nodes = [say("a")];
    const keyword = { trigger_type: "keyword", trigger_keyword: "a(", trigger_match: "regex" } as const;
    expect((await expectFailure(create(nodes, keyword))).error?.param).toBe("trigger_keyword");
    const end = { end_action_type: "resolve", end_action_config: { team_id: "x" } } as const;
    expect((await expectFailure(create(nodes, end))).error?.param).toBe("end_action_config.team_id");
  });
});

test("a key needs the scope of what the nodes do", async () => {
  const { data } = await app.call(apiKeys.create_api_key, {
    name: "writer",
    scopes: ["inbox:write", "inbox:read"],
  });
  const input: InputOf<typeof flows.create_flow> = {
    name: "Tags",
    trigger_type: "keyword",
    trigger_keyword: "t",
    end_action_type: "none",
    nodes: [node("add_tag", { tag: "vip" })],
  };
  const failure = await expectFailure(app.call(flows.create_flow, input, { key: data.secret_key }));
  expect(failure).toMatchObject({ status: 403, error: { required_scope: "contacts:manage" } });
});

test("an update keeps what it does not name, and raises the version with the nodes alone", async () => {
  const { id } = await create([say("a")], { trigger_keyword: "one", trigger_match: "exact" });
  const renamed = (await app.call(flows.update_flow, { id, name: "Two", trigger_keyword: "two" })).data;
  expect(renamed).toMatchObject({ name: "Two", trigger_keyword: "two", trigger_match: "exact", version: 1 });
  const changed = (await app.call(flows.update_flow, { id, nodes: [say("b")] })).data;
  expect(changed).toMatchObject({ version: 2, nodes: [{ id: "b" }], end_action_type: "none" });
  const event = { trigger_type: "event", trigger_event_type: "message.received" } as const;
  const other = (await app.call(flows.update_flow, { id, ...event })).data;
  expect(other).toMatchObject({ ...event, trigger_keyword: null, trigger_match: null });
});

test("a problem names at most 20 known names, and says if there are others", async () => {
  const says = Array.from({ length: 19 }, (_, number) => ({
    ...say(`s${number}`),
    ...(number === 0 ? {} : { parent_node_id: `s${number - 1}` }),
  }));
  const of20 = [...says, { ...goto("x"), parent_node_id: "s18" }];
  const of21 = [...says, { ...say("s19"), parent_node_id: "s18" }, { ...goto("x"), parent_node_id: "s19" }];
  const fixOf = async (nodes: NewNode[]) =>
    (await expectFailure(create(nodes))).error?.details?.[0]?.fix ?? "";
  const known = says.map(({ id }) => id).join(", ");
  expect(await fixOf(of20)).toContain(`Send one of these: ${known}, g.`);
  expect(await fixOf(of21)).toContain(`Send one of these: ${known}, s19 and others.`);
});

test("the schema and the rules of graphs name places in one notation", async () => {
  const misspelt = [{ id: "a", node_type: "say", action_config: {} }] as unknown as NewNode[];
  const { error } = await expectFailure(create(misspelt));
  expect(error?.details).toMatchObject([{ field: "nodes[0].node_type" }]);
});
