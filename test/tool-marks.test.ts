/** A handler knows which MCP tool makes the call. */
import { expect, test } from "vitest";
import { contacts as module } from "../src/platform/inbox/contacts/index.ts";
import { type Modules, modules } from "../src/platform/index.ts";
import { mcp } from "../tools/mcp.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { connectAssistant } from "./support/assistant.ts";

const seen: unknown[] = [];
const list = module.operations.list_contacts as (input: never, context: never) => Promise<unknown>; // a read
const enabledModules: Modules = {
  ...modules,
  contacts: {
    ...module,
    operations: {
      ...module.operations,
      list_contacts(input: never, context: never) {
        seen.push((context as { readonly tool: unknown }).tool);
        return list(input, context);
      },
    },
  },
};

const app = useTestApp({ enabledModules });

async function toolsOf(work: () => Promise<unknown>): Promise<readonly unknown[]> {
  seen.length = 0;
  await work();
  return [...seen];
}

test("a call through /mcp names its tool, also through a gateway", async () => {
  await using assistant = await connectAssistant(app, ownerKey);
  expect(await toolsOf(() => assistant.call("list_contacts", {}))).toEqual(["list_contacts"]);
  const inner = { name: "run_read_tool", arguments: { name: "list_contacts", arguments: {} } };
  expect(await toolsOf(() => assistant.client.callTool(inner))).toEqual(["list_contacts"]);
});

test("a REST request names a tool only by the header that tidings mcp sends", async () => {
  const request = (headers: Record<string, string>) => app.fetch("/v1/contacts", { headers });
  expect(await toolsOf(() => request({}))).toEqual([undefined]);
  expect(await toolsOf(() => request({ "x-tidings-tool": "list_contacts" }))).toEqual(["list_contacts"]);
  expect(await toolsOf(() => request({ "x-tidings-tool": "no name of a tool" }))).toEqual([undefined]);
});

test("a tool that is called over REST is named", async () => {
  const call = { name: "list_contacts", arguments: {} };
  expect(await toolsOf(() => app.call(mcp.call_mcp_tool, call))).toEqual(["list_contacts"]);
});
