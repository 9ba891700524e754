/** Completion uses only the lists that the caller may call. */
import { expect, test } from "vitest";
import { postRequest, serveMcpHttp, useMcpServer } from "./support/mcp-clients.ts";

const server = useMcpServer();

async function request(method: string, params: object, { url = server.url, key = "sk_live_all" } = {}) {
  const text = await postRequest(url, key, { method, params });
  return JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
}

const complete = (argument: object, key?: string) =>
  request(
    "completion/complete",
    { ref: { type: "ref/prompt", name: "plan_broadcast" }, argument },
    key ? { key } : {},
  );

test("a broadcast's template is completed from the names of approved templates", async () => {
  const data = ["order_update", "order_update", "order_late"].map((name, id) => ({ id: `tpl_${id}`, name }));
  server.upstream.respond = () => ({ body: { data, meta: { page: 1, per_page: 25, total: 3 } } });
  const { result } = await complete({ name: "template", value: "order" });
  expect(result.completion.values).toEqual(["order_update", "order_late"]);
  const { pathname, searchParams } = new URL(
    server.upstream.requests.at(-1)?.path ?? "",
    server.upstream.url,
  );
  expect([pathname, searchParams.get("status"), searchParams.get("search")]).toEqual([
    "/v1/templates",
    "approved",
    "order",
  ]);
});

test("an argument without a list, or with one that the key may not call, has no completions and causes no request", async () => {
  expect((await complete({ name: "audience", value: "vip" })).result.completion.values).toEqual([]);
  const denied = await complete({ name: "template", value: "order" }, "sk_live_reader");
  expect(denied.result.completion.values).toEqual([]);
  expect(server.upstream.requests).toEqual([]);
});

test.each([{ data: {} }, { data: [null, 3, { name: 4 }] }, { data: "x", meta: null }])(
  "a list of another shape (%j) completes nothing",
  async (body) => {
    server.upstream.respond = () => ({ body });
    expect((await complete({ name: "template", value: "" })).result.completion.values).toEqual([]);
  },
);

test("a service without the lists does not advertise completion", async () => {
  const partial = await serveMcpHttp(server.upstream, { availableTools: new Set(["get_contact"]) });
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "0" },
  };
  const { result } = await request("initialize", params, { url: partial.url });
  expect(result.capabilities).not.toHaveProperty("completions");
  expect((await request("initialize", params)).result.capabilities).toHaveProperty("completions");
  await partial.close();
});

test("a plan names the chosen template", async () => {
  const args = { goal: "sell", template: "order_update" };
  const { result } = await request("prompts/get", { name: "plan_broadcast", arguments: args });
  expect(JSON.stringify(result.messages)).toContain("Use the template order_update");
});
