/** The caller of an MCP request is looked up once, and its tool calls are served as that caller. */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import { useTestApp } from "./support/app.ts";
import { postRequest } from "./support/mcp-clients.ts";

const app = useTestApp();

const call = { method: "tools/call", params: { name: "list_contacts", arguments: {} } };

test("a revoked key is rejected at the next MCP request", async () => {
  const { data } = await app.call(apiKeys.create_api_key, { name: "k", scopes: ["contacts:read"] });
  const post = () => postRequest(`${app.address}/mcp`, data.secret_key, call);
  await app.call(contacts.create_contact, { phone_number: "+14155550188" });
  expect(await post()).toContain("+14155550188");
  await app.call(apiKeys.delete_api_key, { id: data.id });
  expect(JSON.parse(await post())).toMatchObject({ error: { code: "credential_invalid" } });
});
