/** The node http_request: what it sends, what a run keeps of the response, and what its errors lead to. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { flows } from "../tools/flows/index.ts";
import { messages } from "../tools/messages/index.ts";
import { startTestApp, useTestApp } from "./support/app.ts";
import { lendTestDatabase } from "./support/database.ts";
import { callNodes, createCallHelpers, createWebProbe, localSources } from "./support/flow-calls.ts";
import { chain, createFlowHelpers, type NewNode, say } from "./support/flows.ts";
import { startUpstream, type Upstream } from "./support/scripted-service.ts";

const { enabledModules, replaceSend } = createWebProbe();
const app = useTestApp({ env: localSources, enabledModules });
const { create, start } = createCallHelpers(app);

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream([{}]);
});
afterAll(() => upstream[Symbol.asyncDispose]());

/** Runs a flow of these nodes once. */
async function runOnce(nodes: NewNode[], contact: { text?: string; name?: string } = {}) {
  upstream.requests.length = 0;
  const isAny = contact.text !== undefined;
  const { id } = await create(nodes, isAny ? { trigger_keyword: ".*", trigger_match: "regex" } : {});
  const result = await (await start(id, contact)).run();
  await app.call(flows.delete_flow, { id });
  return result;
}

describe("a request", () => {
  test("has its placeholders filled in, each as its place demands", async () => {
    upstream.respond = () => ({});
    const name = 'A/../"b"?&#\\';
    const { run } = await runOnce(
      callNodes({
        url: `${upstream.url}/people/{{contact.name}}?text={{message.text}}`,
        headers: { "X-Name": "{{contact.name}}", "X-Text": "{{message.text}}" },
        body: {
          name: "{{contact.name}}",
          quoted: 'It is "{{contact.name}}"',
          list: ["{{message.text}}", 1, null],
        },
      }),
      { name, text: "Zoë\r\nHost: evil" },
    );
    expect(upstream.requests).toMatchObject([
      {
        method: "POST",
        path: `/people/${encodeURIComponent(name)}?text=Zo%C3%AB%0D%0AHost%3A%20evil`,
        headers: {
          "content-type": "application/json",
          "x-name": name,
          "x-text": "Zo%C3%AB%0D%0AHost: evil",
          "idempotency-key": `${run?.id}-1`,
        },
        body: { name, quoted: `It is "${name}"`, list: ["Zoë\r\nHost: evil", 1, null] },
      },
    ]);
  });

  test("keeps the type of a value that is a whole text, and sends null without one", async () => {
    const ask = { text: "How many?", save_as: "count", validate: "number" };
    const body = { count: "{{vars.count}}", text: "{{vars.count}} of them", user: "{{contact.username}}" };
    const { id } = await create(
      chain(
        { id: "ask", node_type: "ask", action_config: ask },
        { id: "call", node_type: "http_request", action_config: { url: upstream.url, method: "PUT", body } },
      ),
    );
    upstream.requests.length = 0;
    const started = await start(id);
    await started.run();
    await app.advanceTime(1_000);
    await started.phone.write("12");
    const { run } = await started.run();
    expect(upstream.requests).toMatchObject([
      { method: "PUT", body: { count: 12, text: "12 of them", user: null } },
    ]);
    expect(run).toMatchObject({ status: "completed" });
    expect(run?.path.find(({ outcome }) => outcome === "call")?.missing).toEqual(["contact.username"]);
  });

  test("is a GET without a body, and a text is sent as text", async () => {
    await runOnce(callNodes({ url: `${upstream.url}/a?b=c` }));
    expect(upstream.requests).toMatchObject([{ method: "GET", path: "/a?b=c", body: undefined }]);
    await runOnce(callNodes({ url: upstream.url, body: "for {{contact.name}}" }));
    const [{ headers, body } = { headers: {}, body: "" }] = upstream.requests;
    expect([headers["content-type"], String(body)]).toEqual(["text/plain; charset=utf-8", "for Grace"]);
  });

  test.each([
    ["application/x-www-form-urlencoded", "a={{message.text}}&b=1", "a=x%26b%3D2%22%3C&b=1"],
    ["application/json; charset=utf-8", '{"a":"{{message.text}}"}', '{"a":"x&b=2\\"<"}'],
    ["application/xml", "<a b='{{message.text}}'/>", "<a b='x&amp;b=2&quot;&lt;'/>"],
    ["text/plain", "{{message.text}}", 'x&b=2"<'],
  ])("encodes the values in a text of the type %s", async (type, body, sent) => {
    upstream.respond = () => ({});
    const headers = { "content-type": type, Cookie: "a={{message.text}}; b=1" };
    await runOnce(callNodes({ url: upstream.url, headers, body }), { text: 'x&b=2"<' });
    const [{ headers: got, body: arrived } = { headers: {}, body: "" }] = upstream.requests;
    expect(String(arrived)).toBe(sent);
    expect(got.cookie).toBe("a=x%26b%3D2%22%3C; b=1");
  });

  test("does not leave its path for what a contact wrote", async () => {
    const { run, texts } = await runOnce(
      callNodes({ url: `${upstream.url}/users/{{message.text}}/orders` }),
      {
        text: "..",
      },
    );
    expect([upstream.requests, texts]).toEqual([[], ["failed"]]);
    expect(run?.path[0]).toMatchObject({ node_id: "call", outcome: "error", error: "http_request_invalid" });
  });
});

describe("a response", () => {
  test("is saved with its status, for conditions, texts and further calls", async () => {
    upstream.respond = () => ({ status: 201, body: { items: [{ name: "Tea", price: 4.5 }], paid: true } });
    const query = {
      and: [
        { attribute: "vars.order.status", operator: "eq", value: 201 },
        { attribute: "vars.order.body.items.0.price", operator: "gt", value: 4 },
      ],
    };
    const { run, texts } = await runOnce([
      { id: "call", node_type: "http_request", action_config: { url: upstream.url, save_as: "order" } },
      { id: "if", node_type: "condition", parent_node_id: "call", action_config: { query } },
      {
        id: "yes",
        node_type: "send_message",
        parent_node_id: "if",
        connection_type: "condition_true",
        action_config: { text: "{{vars.order.body.items.0.name}}: {{vars.order.status}}" },
      },
      {
        id: "again",
        node_type: "http_request",
        parent_node_id: "yes",
        action_config: { url: upstream.url, body: { order: "{{vars.order.body}}" } },
      },
      { id: "no", node_type: "end", parent_node_id: "if", connection_type: "default" },
    ] as NewNode[]);
    expect(texts).toEqual(["Tea: 201"]);
    const body = { items: [{ name: "Tea", price: 4.5 }], paid: true };
    expect(run?.variables).toEqual({ order: { status: 201, body } });
    expect(upstream.requests[1]?.body).toEqual({ order: body });
  });

  test.each([
    ["an empty one", { status: 204, body: "" }, null],
    ["a text", { headers: { "content-type": "text/plain" }, body: "12" }, "12"],
    [
      "JSON that declares to be text",
      { headers: { "content-type": "text/html" }, body: '{"a":1}' },
      { a: 1 },
    ],
    ["broken JSON", { body: '{"a":' }, '{"a":'],
    ["what PostgreSQL can't store", { body: '{"a\\u0000":"\\ud800\\u0000"}' }, { a: "\ufffd" }],
    ["deep nesting", { body: "[".repeat(5_000) + "]".repeat(5_000) }, "[".repeat(5_000) + "]".repeat(5_000)],
    ["a long one", { body: `"${"x".repeat(70_000)}"` }, `"${"x".repeat(65_535)}`],
  ])("is kept: %s", async (_, response, body) => {
    const { status = 200 } = response as { status?: number };
    upstream.respond = () => response;
    const { run, texts } = await runOnce(callNodes({ url: upstream.url, save_as: "answer" }));
    expect(run?.variables).toEqual({ answer: { status, body } });
    expect(texts).toEqual(["done"]);
  });
});

describe("an error", () => {
  test("of the endpoint is saved and leads to the error edge", async () => {
    upstream.respond = () => ({ status: 404, body: { reason: "gone" } });
    const { run, texts } = await runOnce(callNodes({ url: upstream.url, save_as: "order" }));
    expect(texts).toEqual(["failed"]);
    expect(run?.variables).toEqual({ order: { status: 404, body: { reason: "gone" } } });
    expect(run?.path.map(({ outcome, error }) => [outcome, error])).toEqual([
      ["call", null],
      ["error", "http_error_status"],
      ["next", null],
    ]);
  });

  test("without an error edge fails the run", async () => {
    upstream.respond = () => ({ status: 500 });
    const { run } = await runOnce([
      { id: "call", node_type: "http_request", action_config: { url: upstream.url } },
    ]);
    expect(run).toMatchObject({ status: "failed", reason: "http_error_status", waiting_for: null });
  });

  test("is also a redirect, which is not followed", async () => {
    upstream.respond = () => ({ status: 307, headers: { location: `${upstream.url}/other` } });
    const { run } = await runOnce(callNodes({ url: `${upstream.url}/first`, body: "x", save_as: "answer" }));
    expect(upstream.requests.map(({ path }) => path)).toEqual(["/first"]);
    expect(run?.path[1]?.error).toBe("http_error_status");
  });

  test.each([
    ["http_timeout", "hang", "1s"],
    ["http_unreachable", "break", "20s"],
  ] as const)("is %s, if the endpoint does %s", async (code, response, timeout) => {
    upstream.respond = () => response;
    const nodes = callNodes({ url: upstream.url, body: "x", timeout, save_as: "answer" });
    const { run, texts } = await runOnce(nodes);
    expect([run?.path[1]?.error, texts, run?.variables]).toEqual([code, ["failed"], {}]);
    expect(upstream.requests).toHaveLength(1);
  });

  test("is http_forbidden_address where the address has become forbidden", async () => {
    await using database = await lendTestDatabase();
    const local = await startTestApp({ database, env: localSources });
    const { id } = await createCallHelpers(local).create(callNodes({ url: upstream.url }));
    await local[Symbol.asyncDispose]();
    upstream.requests.length = 0;
    await using guarded = await startTestApp({ database });
    const { run } = await (await createCallHelpers(guarded).start(id)).run();
    expect([run?.path[1]?.error, upstream.requests]).toEqual(["http_forbidden_address", []]);
  });
});

describe("while a call runs", () => {
  /** Does something during the call, and returns what the run became. */
  async function during(work: (started: Awaited<ReturnType<typeof start>>) => Promise<unknown>) {
    const { id } = await create(
      callNodes({ url: upstream.url, save_as: "answer", body: "{{contact.name}}" }),
    );
    const started = await start(id);
    const restore = await replaceSend(app, async (request, web) => {
      await work(started);
      return web.send(request);
    });
    upstream.respond = () => ({});
    const result = await started.run();
    restore();
    return { ...started, ...result };
  }

  test("a person's reply cancels the run, and the response is dropped", async () => {
    const text = { type: "text", text: { body: "me" } } as const;
    const { run, texts } = await during(({ number }) =>
      app.call(messages.send_message, { to: number, ...text }),
    );
    expect(run).toMatchObject({ status: "cancelled", reason: "person_replied", variables: {} });
    expect(texts).toEqual(["me"]);
  });

  test("the run can be cancelled, its flow deleted, and its contact blocked", async () => {
    const cancelled = await during(async ({ conversation_id }) => {
      const { data } = await app.call(flows.list_flow_runs, { conversation_id });
      expect(data).toMatchObject([{ status: "waiting", waiting_for: "response", due_at: null }]);
      await app.call(flows.cancel_flow_run, { id: data[0]?.id ?? "" });
    });
    expect(cancelled.run).toMatchObject({ status: "cancelled", reason: "requested", variables: {} });
    const deleted = await during(async ({ conversation_id }) => {
      const { data } = await app.call(flows.list_flow_runs, { conversation_id });
      await app.call(flows.delete_flow, { id: data[0]?.flow_id ?? "" });
    });
    expect(deleted.run).toMatchObject({ status: "cancelled", reason: "flow_deleted" });
    const blocked = await during(({ conversation_id }) => block(conversation_id));
    expect(blocked.run).toMatchObject({ status: "cancelled", reason: "blocked" });
    expect([cancelled.texts, deleted.texts, blocked.texts]).toEqual([[], [], []]);
  });

  test("its contact can be erased: neither the request nor the response is kept", async () => {
    const { run } = await during(async ({ conversation_id }) => {
      const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
      await app.call(contacts.delete_contact, { id: data.contact_id });
    });
    expect(run).toMatchObject({ status: "cancelled", reason: "contact_erased", variables: {} });
    const { queries } = app.server.database;
    const [row] = await queries
      .selectFrom("flow_runs")
      .selectAll()
      .where("id", "=", run?.id ?? "")
      .execute();
    expect(row?.wait).toBeNull();
  });

  test("the conversation goes on: messages are received and another flow answers", async () => {
    await createFlowHelpers(app).create([say("hours")], { trigger_keyword: "opening" });
    const { texts } = await during(async ({ phone }) => {
      await phone.write("opening");
    });
    expect([...texts].sort()).toEqual(["done", "hours"]);
  });
});

async function block(conversation_id: string): Promise<void> {
  const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
  await app.call(contacts.update_contact, { id: data.contact_id, blocked: true });
}
