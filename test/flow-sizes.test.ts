/** What placeholders make of a text is limited while it is filled in, and so is what a run keeps. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { flows } from "../tools/flows/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { callNodes, createCallHelpers, createWebProbe, localSources } from "./support/flow-calls.ts";
import { chain, type NewNode, say } from "./support/flows.ts";
import { startUpstream, type Upstream } from "./support/scripted-service.ts";

const { enabledModules } = createWebProbe();
const app = useTestApp({ env: localSources, enabledModules });
const { create, start } = createCallHelpers(app);

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream([{}]);
});
afterAll(() => upstream[Symbol.asyncDispose]());

/** Within JSON, each character becomes six. */
const control = "\u0001".repeat(40_000);
const long = "x".repeat(1024);
const ask = (save_as: string): NewNode => ({
  id: "first",
  node_type: "http_request",
  action_config: { url: upstream.url, save_as },
});
const repeat = (placeholder: string, length: number) =>
  placeholder.repeat(Math.floor(length / placeholder.length));

/** The steps of a rehearsal in which the first call is answered with this body. */
async function rehearse(nodes: NewNode[], body: unknown) {
  const { data } = await app.call(flows.rehearse_flow, {
    nodes,
    message: "hi",
    responses: { first: { status: 200, body } },
    contact: { name: "n".repeat(200), metadata: { long } },
  });
  return data;
}

describe("is the error of its node, in a run and in a rehearsal:", () => {
  const list = Array.from({ length: 3_300 }, () => "{{vars.a.body}}");
  test.each([
    ["a body of a list that is 3,300 times a response", { body: list }, ""],
    ["a body of a text", { body: repeat("{{vars.a.body}}", 60_000) }, ""],
    ["a query", { method: "GET" }, repeat("{{vars.a.body}}", 1_900)],
    ["a header", { headers: { "X-A": repeat("{{vars.a.body}}", 4_000) } }, ""],
  ])("%s", async (_, config, query) => {
    upstream.respond = () => ({ headers: { "content-type": "text/plain" }, body: control });
    upstream.requests.length = 0;
    const url = `${upstream.url}/?q=${query}`;
    const nodes = chain(ask("a"), ...callNodes({ ...config, url }).slice(0, 1));
    const { id } = await create(nodes);
    const { run } = await (await start(id)).run();
    expect(run).toMatchObject({ status: "failed", reason: "http_request_invalid" });
    expect(run?.path.map(({ node_id, error }) => [node_id, error])).toEqual([
      ["first", null],
      ["first", null],
      ["call", "http_request_invalid"],
    ]);
    expect(upstream.requests).toHaveLength(1);
    expect(await listFailedJobs()).toEqual([]);
    const rehearsal = await rehearse(nodes, control);
    expect(rehearsal).toMatchObject({ status: "failed", reason: "http_request_invalid" });
  });

  test("a message, a variable of a template, and an attribute", async () => {
    const text = repeat("{{contact.metadata.long}}", 1_000);
    const node = (node_type: NewNode["node_type"], action_config: NewNode["action_config"]): NewNode[] => [
      { id: "node", node_type, action_config },
    ];
    const template = { name: "order_update", language: "en", variables: { "1": text } };
    const reasons = [
      (await rehearse(node("send_message", { text }), null)).reason,
      (await rehearse(node("ask", { text }), null)).reason,
      (await rehearse(node("send_template", template), null)).reason,
      (await rehearse(node("set_attribute", { name: "a", value: text }), null)).reason,
    ];
    expect(reasons).toEqual([
      "flow_message_invalid",
      "flow_message_invalid",
      "flow_message_invalid",
      "attributes_too_large",
    ]);
  });

  test("a response beside others that are as large as a run may keep", async () => {
    upstream.respond = () => ({ headers: { "content-type": "text/plain" }, body: "y".repeat(65_536) });
    const calls = [1, 2, 3, 4].map((number): NewNode => {
      return { ...ask(`a${number}`), id: `call${number}` };
    });
    const { id } = await create(chain(...calls));
    const { run } = await (await start(id)).run();
    expect(run).toMatchObject({ status: "failed", reason: "variables_too_large" });
    expect(Object.keys(run?.variables ?? {})).toEqual(["a1", "a2", "a3"]);
  });
});

test("a list in a text is read as far as the text has room", async () => {
  const members = Array.from({ length: 100_000 }, (_, index) => index % 10);
  const nodes = chain(ask("a"), say("{{vars.a.body.list}}", "say"));
  const { messages } = await rehearse(nodes, { list: [[1, [2]], "three", ...members] });
  const { text = "" } = messages.at(-1) ?? {};
  expect([text.slice(0, 17), text.length]).toEqual(["1, 2, three, 0, 1", 1024]);
});

/** Each takes minutes if a step takes the square of its length. */
describe("is checked in time:", () => {
  const graph = (body: string): NewNode[] =>
    chain(
      ...Array.from({ length: 14 }, (_, index): NewNode => {
        return {
          id: `n${index}`,
          node_type: "http_request",
          action_config: { url: "https://example.com", body },
        };
      }),
    );

  test("a placeholder with many spaces", async () => {
    const failure = await expectFailure(create(graph(`{{a${" ".repeat(64_000)}" }}`)));
    expect(failure).toMatchObject({ status: 400, error: { param: "nodes[0].action_config.body" } });
  });

  test("many placeholders that have no value", async () => {
    const unknown = Array.from({ length: 4_500 }, (_, index) => `{{vars.v${index}}}`);
    const failure = await expectFailure(create(graph(unknown.join(""))));
    expect(failure.status).toBe(400);
    expect(failure.error?.details).toHaveLength(20);
  });
});

test("the list of runs answers without their variables and requests", async () => {
  upstream.respond = () => ({ body: { a: "y" } });
  const { id } = await create([ask("kept")]);
  const { run } = await (await start(id)).run();
  const { data } = await app.call(flows.list_flow_runs, { flow_id: id });
  const { variables, path: _, ...shown } = run ?? {};
  expect([data, variables]).toEqual([[shown], { kept: { status: 200, body: { a: "y" } } }]);
});

async function listFailedJobs(): Promise<unknown[]> {
  const { queries } = app.server.database;
  const dead = await queries.selectFrom("dead_jobs").select("name").execute();
  const failed = await queries.selectFrom("jobs").select("name").where("attempts", ">", 0).execute();
  return [...dead, ...failed];
}
