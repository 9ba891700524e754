/** The caller of an MCP request is looked up once: the REST requests for its messages reuse it. */
import { expect, test } from "vitest";
import { createAdmission } from "../src/http/admission/index.ts";
import type { Caller } from "../src/platform/kernel/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import { useTestApp } from "./support/app.ts";
import { admitAll, postRequest, serveMcpHttp } from "./support/mcp-clients.ts";
import { startUpstream } from "./support/scripted-service.ts";

const app = useTestApp();

const call = { method: "tools/call", params: { name: "list_contacts", arguments: {} } };

const exchange = (headers: Record<string, string>) => {
  return { headers, address: "192.0.2.1", setHeader: () => undefined };
};

test("it is found by the headers of its requests, with its own credential, until it ends", async () => {
  const caller: Caller = {
    organization_id: "org_1",
    credential: { type: "api_key", id: "key_1", name: "one", expires_at: null },
    scopes: new Set(["contacts:read"]),
    ...{ user: null, session: null, acts_for: null, role: null },
  };
  const admission = createAdmission({
    rateLimits: { perSecond: 1, burst: 1 },
    now: app.now,
    platform: {
      authenticate: async () => caller,
      sharedUse: { add: () => undefined, onOthers: () => undefined },
    },
  });
  const request = admission.forMessages(exchange({ "x-api-key": "sk_live_one" }));
  const { headers } = await request.identify();
  const known = { caller, address: "192.0.2.1" };
  expect(admission.findCaller({ ...headers, "x-api-key": "sk_live_one" })).toMatchObject(known);
  expect(admission.findCaller({ ...headers, authorization: "Bearer sk_live_one" })).toMatchObject(known);
  expect(admission.findCaller({ ...headers, "x-api-key": "sk_live_two" })).toBeUndefined();
  expect(admission.findCaller(headers)).toBeUndefined();
  expect(admission.findCaller({ "x-api-key": "sk_live_one" })).toBeUndefined();
  request.end();
  expect(admission.findCaller({ ...headers, "x-api-key": "sk_live_one" })).toBeUndefined();
});

test("the REST request of a tool call has the headers of its MCP request", async () => {
  await using upstream = await startUpstream([
    { body: { data: [], meta: { page: 1, per_page: 20, total: 0 } } },
  ]);
  const admit: typeof admitAll = (request) => {
    const { maxMessages, identify } = admitAll(request);
    const headers = { "x-test": "one" };
    return { maxMessages, identify: async () => ({ ...(await identify()), headers }) };
  };
  const endpoint = await serveMcpHttp(upstream, {}, admit);
  await postRequest(endpoint.url, "sk_live_all", call);
  await endpoint.close();
  expect(upstream.requests.map(({ headers }) => headers["x-test"])).toEqual(["one"]);
});

test("a revoked key is rejected at the next MCP request", async () => {
  const { data } = await app.call(apiKeys.create_api_key, { name: "k", scopes: ["contacts:read"] });
  const post = () => postRequest(`${app.address}/mcp`, data.secret_key, call);
  await app.call(contacts.create_contact, { phone_number: "+14155550188" });
  expect(await post()).toContain("+14155550188");
  await app.call(apiKeys.delete_api_key, { id: data.id });
  expect(JSON.parse(await post())).toMatchObject({ error: { code: "credential_invalid" } });
});
