/** The link that the first start prints: on a terminal of this machine, and nowhere else. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { mayPrintLink } from "../src/cli/serve/owner-link.ts";
import { readConfig } from "../src/config/index.ts";
import { openBrowser } from "./support/console.ts";
import { programPath } from "./support/process.ts";
import { openProcesses } from "./support/served-process.ts";
import { openLink } from "./support/sign-in-links.ts";

/** Runs a command on a terminal of its own, and passes on what it prints. */
const terminal = "/usr/bin/script";

const link = /^ {2}http:\/\/127\.0\.0\.1:\d+\/console\/#login=[\w-]{43}\r?$/m;

test.each<[string, Record<string, string>, boolean, boolean]>([
  ["on a terminal and loopback", {}, true, true],
  ["on another loopback address", { HOST: "::1" }, true, true],
  ["without a terminal", {}, false, false],
  ["on every interface", { HOST: "0.0.0.0" }, true, false],
  ["behind a public address", { TIDINGS_PUBLIC_URL: "https://desk.example.com" }, true, false],
  ["behind a proxy", { TIDINGS_TRUSTED_PROXIES: "127.0.0.1" }, true, false],
])("a link %s", (_, env, isTerminal, isPrinted) => {
  expect(mayPrintLink(readConfig(env).config, isTerminal)).toBe(isPrinted);
});

test("a first start without a terminal prints no link", async () => {
  await using processes = await openProcesses();
  const { process, address } = await processes.serve();
  expect(process.stdout()).toContain("Tidings was started for the first time.");
  expect(process.stdout()).toContain(`Console  ${address}/console/`);
  expect(process.stdout() + process.stderr()).not.toContain("#login=");
});

/** Serves on a terminal until `pattern` is printed, and returns what was printed. */
async function serveOnTerminal(env: Readonly<Record<string, string>>, pattern: RegExp) {
  const child = spawn(terminal, ["-qefc", `exec ${process.execPath} ${programPath} serve`, "/dev/null"], {
    env: { ...process.env, TIDINGS_LOG_LEVEL: "error", PORT: "0", ...env },
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  while (!pattern.test(output)) {
    await Promise.race([once(child.stdout, "data"), once(child, "close")]);
    if (child.exitCode !== null) {
      throw new Error(output);
    }
  }
  return {
    output: () => output,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await once(child, "close");
    },
  };
}

test.skipIf(!existsSync(terminal))(
  "the first start on a terminal prints a link for the owner, and the next one prints none",
  async () => {
    await using processes = await openProcesses();
    const first = await serveOnTerminal(processes.env, link);
    try {
      const [url = ""] = link.exec(first.output()) ?? [];
      const { origin, hash } = new URL(url.trim());
      const answer = await openLink(openBrowser({ address: origin }), hash.slice("#login=".length));
      expect(answer).toMatchObject({
        status: 200,
        body: { data: { signed_in_by: "link", user: { role: "owner" } } },
      });
    } finally {
      await first[Symbol.asyncDispose]();
    }
    await using next = await serveOnTerminal(processes.env, /Over HTTP/);
    // The next process would print its link after this line, at the latest when a request is answered.
    const [, address = ""] = /REST\s+(http:\S+)\/v1/.exec(next.output()) ?? [];
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
    expect(next.output()).not.toContain("#login=");
  },
);
