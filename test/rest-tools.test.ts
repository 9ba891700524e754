/** Tools over REST: the operator's settings that restrict assistants apply to them too. */
import { describe, expect, test } from "vitest";
import { mcp } from "../tools/mcp.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";

describe.each([
  [{ TIDINGS_READ_ONLY: "true" }, "TIDINGS_READ_ONLY", "send_message", "list_contacts"],
  [{ TIDINGS_TOOLS_DENY: "list_contacts" }, "TIDINGS_TOOLS_DENY", "list_contacts", "list_uploads"],
  [{ TIDINGS_TOOLS_ALLOW: "list_contacts" }, "TIDINGS_TOOLS_ALLOW", "list_uploads", "list_contacts"],
  [{ TIDINGS_TOOLSETS: "uploads" }, "TIDINGS_TOOLSETS", "list_contacts", "list_uploads"],
])("with %j", (env, setting, hidden, offered) => {
  const app = useTestApp({ env });
  const call = (name: string) => app.call(mcp.call_mcp_tool, { name, arguments: {} });

  test("a hidden tool can't be called, and is not listed", async () => {
    expect(await expectFailure(call(hidden))).toMatchObject({
      status: 403,
      code: "tool_hidden",
      error: { setting, value: hidden },
    });
    const names = (await app.call(mcp.list_mcp_tools, {})).data.map(({ name }) => name);
    expect([names.includes(hidden), names.includes(offered)]).toEqual([false, true]);
  });

  test("another tool can be called", async () => {
    expect((await call(offered)).data).toEqual([]);
  });
});

describe("by default", () => {
  const app = useTestApp();

  test("every tool can be called, also one that assistants are not offered", async () => {
    expect((await app.call(mcp.call_mcp_tool, { name: "list_quick_replies" })).data).toEqual([]);
  });
});
