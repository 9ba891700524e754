/** A mistake in a setting that protects ends the start of every command, and names the wrong value. */
import { once } from "node:events";
import { expect, test } from "vitest";
import { startProcess } from "./support/process.ts";

const upstream = { TIDINGS_BASE_URL: "http://127.0.0.1:9", TIDINGS_API_KEY: "sk_live_x" };

test.each([
  ["serve", {}],
  ["mcp", {}],
  ["mcp", upstream],
] as const)("tidings %s with %j", async (command, env) => {
  const outputs = await Promise.all([
    start(command, { ...env, TIDINGS_READONLY: "true" }),
    start(command, { ...env, TIDINGS_TOOLS_DENY: "delete_contact,send_mesage" }),
    start(command, { ...env, TIDINGS_TOOLS_ALLOW: "wire_money" }),
  ]);
  expect(outputs).toEqual([
    "tidings: Unknown setting TIDINGS_READONLY. Did you mean TIDINGS_READ_ONLY?\n",
    "tidings: TIDINGS_TOOLS_DENY has an unknown name: send_mesage. Did you mean send_message?\n",
    "tidings: TIDINGS_TOOLS_ALLOW has an unknown name: wire_money.\n",
  ]);
});

/** The output of a command that must end with an error before it opens anything. */
async function start(command: string, env: Record<string, string>): Promise<string> {
  const { child, stdout, stderr } = startProcess([command], { ...env, TIDINGS_DATA_DIR: "/dev/null/none" });
  // Unlike "exit", it comes after the whole output.
  const [code] = await once(child, "close");
  expect([code, stdout()]).toEqual([1, ""]);
  return stderr();
}
