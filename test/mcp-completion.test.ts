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

test("a broadcast's cohort is completed from the names of cohorts", async () => {
  const data = [{ id: "coh_1", name: "VIP in Germany" }];
  server.upstream.respond = () => ({ body: { data, meta: { page: 1, per_page: 25, total: 1 } } });
  const { result } = await complete({ name: "cohort", value: "vip" });
  expect(result.completion.values).toEqual(["VIP in Germany"]);
  expect(server.upstream.requests.at(-1)?.path).toMatch(/^\/v1\/cohorts\?search=vip&/);
});

const plan = async (args: object, options = {}) => {
  const { result } = await request("prompts/get", { name: "plan_broadcast", arguments: args }, options);
  return String(result.messages[0].content.text);
};

test("a plan names the chosen template and cohort, and ends with the approval and the counts", async () => {
  const text = await plan({ goal: "sell", template: "order_update", cohort: "VIP" });
  expect(text).toContain("Find the template order_update with list_templates");
  expect(text).toContain("Find the cohort VIP with list_cohorts");
  const order = ["get_template", "create_broadcast", "estimate_broadcast", "approval", "execute_broadcast"];
  const places = [...order, "wait_for_broadcast"].map((name) => text.indexOf(name));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(Math.min(...places)).toBeGreaterThan(0);
  expect(text).toContain("test_broadcast");
});

test("a key that may not send plans a draft, and is not told to send it", async () => {
  const text = await plan({ goal: "sell" }, { key: "sk_live_planner" });
  expect(text).toContain("this key may not send it");
  expect(text).not.toMatch(/execute_broadcast|wait_for_broadcast/);
});
