/** The log is written to stderr and contains no secret. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

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
