/** A webhook sends data to its address, so subscribing needs the scopes that read the data. */
import { expect, test } from "vitest";
import { mcp } from "../tools/mcp.ts";
import { webhookEvents, webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createUserKey, trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });

const url = "https://example.com/hooks";
const rejected = { status: 403, code: "insufficient_scope", error: { required_scopes: ["inbox:read"] } };

test("a webhook can't be created without the scope of its events, also by a tool call over REST", async () => {
  const list = async () => (await app.call(webhooks.list_webhooks, {})).data.webhooks;
  const before = await list();
  const key = await createUserKey(app, ["tokens:create"]);
  const input = { url, events: webhookEvents.filter((event) => event.startsWith("message.")) };
  expect(await expectFailure(app.call(webhooks.create_webhook, input, { key }))).toMatchObject(rejected);
  const call = app.call(mcp.call_mcp_tool, { name: "create_webhook", arguments: input }, { key });
  expect(await expectFailure(call)).toMatchObject(rejected);
  expect(await list()).toEqual(before);
});

test.each([
  ["events", { events: ["message.sent" as const] }],
  ["address", { url: "https://example.org/elsewhere" }],
])("the %s of a webhook can't be changed without the scope of its events", async (_, change) => {
  const { data: created } = await app.call(webhooks.create_webhook, { url, events: ["message.received"] });
  const update = (key: string) => app.call(webhooks.update_webhook, { id: created.id, ...change }, { key });
  expect(await expectFailure(update(await createUserKey(app, ["tokens:create"])))).toMatchObject(rejected);
  const { data } = await update(await createUserKey(app, ["tokens:create", "inbox:read"]));
  expect(data).toMatchObject(change);
});
