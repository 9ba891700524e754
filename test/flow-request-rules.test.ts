/** The rules for the node http_request when a flow is saved: each error names the node and the field, and shows no secret. */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import type { InputOf } from "../tools/contract/index.ts";
import { flows } from "../tools/flows/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { chain, createFlowHelpers, type NewNode, say } from "./support/flows.ts";

const app = useTestApp();
const { create } = createFlowHelpers(app);

const url = "https://api.example.com/orders";
const call = (action_config: NewNode["action_config"]): NewNode[] => [
  { id: "call", node_type: "http_request", action_config },
];
const place = "nodes[0].action_config";

test.each([
  ["no url", {}, "url", /required/],
  ["an unknown field", { url, verb: "GET" }, "verb", /Unknown argument verb/],
  ["an unknown method", { url, method: "TRACE" }, "method", /none of the allowed values/],
  [
    "a host with a placeholder",
    { url: "https://{{vars.host}}/a" },
    "url",
    /scheme and host have no placeholders/,
  ],
  ["a part of a host", { url: "https://api.example.com{{message.text}}" }, "url", /no placeholders/],
  ["a port with a placeholder", { url: "https://example.com:{{message.text}}/" }, "url", /no placeholders/],
  ["a user with a placeholder", { url: "https://{{message.text}}@example.com/" }, "url", /no placeholders/],
  ["a scheme with a placeholder", { url: "{{message.text}}://example.com/" }, "url", /no placeholders/],
  [
    "a backslash before the host's end",
    { url: "https://example.com\\@evil.example/" },
    "url",
    /no placeholders/,
  ],
  ["plain http", { url: "http://example.com/" }, "url", /must start with https/],
  ["this machine", { url: "https://localhost/" }, "url", /not a public address/],
  ["a private address", { url: "https://10.0.0.1/{{message.text}}" }, "url", /not a public address/],
  ["the address of metadata", { url: "https://169.254.169.254/latest" }, "url", /not a public address/],
  ["a port", { url: "https://example.com:25/" }, "url", /Port 25/],
  ["a password in the url", { url: "https://a:b@example.com/" }, "url", /user name or password/],
  ["a path that leads up", { url: "https://example.com/a/%2e./b" }, "url", /segment/],
  ["an unknown placeholder", { url: `${url}/{{vars.id}}` }, "url", /vars\.id/],
  ["one in a header", { url, headers: { "X-A": "{{contact.nam}}" } }, "headers.X-A", /contact\.name/],
  ["one in a body", { url, body: { a: ["{{contact.nam}}"] } }, "body.a[0]", /contact\.name/],
  ["one in a member's name", { url, body: { "{{contact.name}}": 1 } }, "body", /in its name/],
  ["a body of a GET", { url, method: "GET", body: { a: 1 } }, "body", /not valid|Leave out/],
  ["a header with a line break", { url, headers: { "X-A": "a\r\nb" } }, "headers.X-A", /one line/],
  ["a header that the service sets", { url, headers: { Host: "example.org" } }, "headers", /Host is set/],
  ["a key that the service sets", { url, headers: { "idempotency-key": "1" } }, "headers", /Idempotency-Key/],
  ["a header twice", { url, headers: { A: "1" }, secret_headers: { a: "2" } }, "headers", /once/],
  ["a time-out of a minute", { url, timeout: "1m" }, "timeout", /at most 30s/],
] as const)("a request is rejected with %s", async (_, config, field, message) => {
  const { status, error } = await expectFailure(create(call(config)));
  const details = (error?.details ?? []) as { field: string; message: string; fix: string }[];
  const named = details.find((one) => one.field === `${place}.${field}`);
  expect([status, details.map((one) => one.field)]).toEqual([400, [`${place}.${field}`]]);
  expect(`${named?.message} ${named?.fix}`).toMatch(message);
});

test.each([
  ["a line break", "hush\r\nX-Evil: 1"],
  ["a number", 5],
  ["a length of 5,000", "hush".repeat(1_250)],
])("a secret with %s is rejected without being shown", async (_, value) => {
  const config = { url, secret_headers: { Authorization: value } };
  const failure = await expectFailure(create(call(config)));
  expect(failure.error?.details).toMatchObject([{ field: `${place}.secret_headers.Authorization` }]);
  expect(JSON.stringify(failure.error)).not.toContain("hush");
});

test("what a call saves can be named by its members", async () => {
  const config = { url, save_as: "order" };
  const texts = (text: string) => create(chain(...call(config), say(text, "say")), { trigger_keyword: "x" });
  await texts("{{vars.order.status}} {{vars.order.body}} {{vars.order.body.items.0.name}}");
  for (const name of ["vars.order.stat", "vars.order.body.", "vars.order.body..x", "vars.orders.body.x"]) {
    const { error } = await expectFailure(texts(`{{${name}}}`));
    expect(error?.details).toMatchObject([
      { field: "nodes[1].action_config.text", code: "unknown_placeholder" },
    ]);
  }
  // The value of an answer has no members.
  const ask = { id: "ask", node_type: "ask", action_config: { text: "?", save_as: "mail" } } as const;
  const { status } = await expectFailure(create(chain(ask, say("{{vars.mail.x}}", "say"))));
  expect(status).toBe(400);
});

test("saving one needs the scope tokens:create", async () => {
  const scopes = ["inbox:write", "inbox:read", "contacts:manage", "contacts:write"] as const;
  const { data } = await app.call(apiKeys.create_api_key, { name: "writer", scopes: [...scopes] });
  const input: InputOf<typeof flows.create_flow> = {
    name: "Call",
    trigger_type: "keyword",
    trigger_keyword: "t",
    end_action_type: "none",
    nodes: call({ url }),
  };
  const key = data.secret_key;
  expect(await expectFailure(app.call(flows.create_flow, input, { key }))).toMatchObject({
    status: 403,
    error: { required_scope: "tokens:create" },
  });
  const { id } = await create(call({ url }), { trigger_keyword: "y" });
  const change = app.call(flows.update_flow, { id, nodes: call({ url: `${url}/other` }) }, { key });
  expect(await expectFailure(change)).toMatchObject({ status: 403 });
});
