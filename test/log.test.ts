/** The log is written to stderr and contains no secret. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { describeEntry } from "../src/adapters/log/readable.ts";
import { createLazyLog } from "../src/cli/lazy-log.ts";

const run = promisify(execFile);

test("secrets are redacted by pattern and by value", async () => {
  const script = `
    import { createLog } from "./src/adapters/log/pino.ts";
    const log = createLog({ level: "info", format: "json", secrets: ["an operator's \\"own\\" secret"] });
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
  const log = createLazyLog({ level: "debug", format: "json", secrets: [] }, () =>
    Promise.reject(new Error("it was replaced")),
  );
  log.info({}, "an entry");
  log.warn({ key: "sk_live_0123456789" }, "a warning");
  log.error({}, "an error");
  await expect.poll(() => print.mock.calls).toEqual([["tidings: a warning"], ["tidings: an error"]]);
});

test("an entry for people has the time, the level, the message and its facts, and controls no terminal", () => {
  const time = new Date(2026, 10, 21, 9, 5, 7).toISOString();
  const entry = { level: 40, time, port: 3000, name: "Ada \u001b[2J", msg: "one\ntwo" };
  expect(describeEntry(JSON.stringify(entry))).toBe(
    '09:05:07  warn   one two  port=3000  name="Ada \\u001b[2J"\n',
  );
  const err = { message: "no", stack: "Error: no\n    at x.ts:1" };
  expect(describeEntry(JSON.stringify({ level: 50, time, msg: "it failed\u001b", err }))).toBe(
    "09:05:07  error  it failed\\u001b\n          Error: no\n              at x.ts:1\n",
  );
  expect(describeEntry(JSON.stringify({ level: 30, time, msg: "a\u009bb" }))).toBe(
    "09:05:07  info   a\\u009bb\n",
  );
  expect(describeEntry('{"level":30,"port":[secret]}\n')).toBe('{"level":30,"port":[secret]}\n');
});
