/** Calls that wait end when their credential does, over REST and MCP. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { messages } from "../tools/messages/index.ts";
import { users } from "../tools/users.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { openPhone } from "./support/simulator.ts";
import { createUserWithRole, signIn, trustedProxyEnv } from "./support/users.ts";
import { startWaiting } from "./support/waiting.ts";

const app = useTestApp({ env: trustedProxyEnv });

const rejected = { status: 401, code: "credential_invalid" };
const wait = (key?: string) => app.call(messages.wait_for_message, {}, key === undefined ? {} : { key });
const createKey = async (expires_at?: string) =>
  (await app.call(apiKeys.create_api_key, { name: "waits", scopes: ["inbox:read"], expires_at })).data;

test("a wait ends when its key is deleted", async () => {
  const { id, secret_key } = await createKey();
  const { answer } = await startWaiting(() => expectFailure(wait(secret_key)));
  await app.call(apiKeys.delete_api_key, { id });
  expect(await answer).toMatchObject(rejected);
});

test("a wait ends when its key expires, and those of other keys go on", async () => {
  const { secret_key } = await createKey(new Date(app.now().getTime() + 1_000).toISOString());
  const { answer } = await startWaiting(() => expectFailure(wait(secret_key)));
  const other = await meanwhile(wait(), async () => {
    await app.advanceTime(1_000);
    expect(await answer).toMatchObject(rejected);
    await openPhone(app, "+14155550613").write("for the other");
  });
  expect(other.data.map(({ text }) => text?.body)).toEqual(["for the other"]);
});

test.each([
  ["the user is deactivated", { is_active: false }],
  ["the user gets a new password", { password: "another long password" }],
])("a wait with an access token ends when %s", async (_, change) => {
  const { id, email } = await createUserWithRole(app, "agent");
  const { access_token } = await signIn(app, email);
  const { answer } = await startWaiting(() => expectFailure(wait(access_token)));
  await app.call(users.update_user, { id, ...change });
  expect(await answer).toMatchObject(rejected);
});

test("a tool call that waits ends when its key is deleted", async () => {
  const { id, secret_key } = await createKey();
  const client = new Client({ name: "test", version: "1.0.0" });
  const requestInit = { headers: { authorization: `Bearer ${secret_key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", app.address), { requestInit }));
  const call = { name: "wait_for_message", arguments: { timeout_seconds: 20 } };
  const { answer } = await startWaiting(() => client.callTool(call));
  await app.call(apiKeys.delete_api_key, { id });
  const { isError, content } = await answer;
  expect(isError).toBe(true);
  expect(JSON.stringify(content)).toContain("credential_invalid (401)");
  await client.close();
});
