/** The log is written to stderr and contains no secret. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { createLazyLog } from "../src/cli/lazy-log.ts";

const run = promisify(execFile);

test("secrets are redacted by pattern and by value", async () => {
  const script = `
    import { createLog } from "./src/adapters/log/pino.ts";
    const log = createLog("info", ["an operator's \\"own\\" secret"]);
    log.info({ key: "sk_live_0123456789", deep: { text: 'x an operator\\'s "own" secret y' } }, "Bearer eyJhbGciOi.J9.abc");
  `;
  const { stdout, stderr } = await run(process.execPath, [
    "--import",
    "tsx",
    "--input-type=module",
    "-e",
    script,
  ]);
  expect(stdout).toBe("");
  expect(stderr).toContain("[secret]");
  expect(stderr).not.toMatch(/sk_live_0123456789|own.{1,3} secret|eyJhbGciOi/);
});

test("a log whose library can't be loaded prints the messages of warnings and errors", async () => {
  const print = vi.spyOn(console, "error").mockReturnValue();
  const log = createLazyLog("debug", [], () => Promise.reject(new Error("it was replaced")));
  log.info({}, "an entry");
  log.warn({ key: "sk_live_0123456789" }, "a warning");
  log.error({}, "an error");
  await expect.poll(() => print.mock.calls).toEqual([["tidings: a warning"], ["tidings: an error"]]);
});
