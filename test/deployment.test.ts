/** The files of deploy/: each is accepted by the program that reads it, and they agree with the service. */
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig, settings } from "../src/config/index.ts";
import { hasProgram, runProgram } from "./support/installed-program.ts";
import { startUpstream } from "./support/scripted-service.ts";

const host = "chat.example.org";
const known = new Set(settings.map(({ name }) => name));
/** The longest stop, in seconds, without TIDINGS_DRAIN_DELAY: docs/operations.md. */
const longestStop = 20;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidings-deploy-"));
});
afterAll(() => rm(folder, { recursive: true }));

const read = (name: string) => readFile(join("deploy", name), "utf8");
const makeEnv = (...args: string[]) => runProgram("deploy/make-env", args);

/** Reads the lines as systemd and Compose do. */
function parse(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

describe("make-env", () => {
  test("prints settings with which the service starts, for the host and the owner", async () => {
    const { code, output } = await makeEnv(host, "ada@example.org");
    expect(code).toBe(0);
    const env = parse(output);
    const { config, warnings } = readConfig(env);
    expect(warnings).toEqual([]);
    expect(config).toMatchObject({
      publicUrl: `https://${host}`,
      allowedHosts: [host],
      trustedProxies: ["127.0.0.1"],
      drainDelayMs: 5_000,
      owner: { email: "ada@example.org" },
    });
    expect(output).not.toMatch(/^[^#].*[<>]|tidings\.example\.com/m);
    const secrets = Object.values(env).filter((value) => /[\da-f]{64}$/.test(value));
    expect(new Set(secrets).size).toBe(5);
  });

  test("makes other secrets each time", async () => {
    const [one, two] = await Promise.all([makeEnv(host, "a@b.org"), makeEnv(host, "a@b.org")]);
    expect(parse(one.output).TIDINGS_SECRET).not.toBe(parse(two.output).TIDINGS_SECRET);
  });

  test.each([
    [[], "Usage: deploy/make-env HOST EMAIL"],
    [[host], "Usage: deploy/make-env HOST EMAIL"],
    [["https://chat.example.org", "a@b.org"], "is not the name of a host"],
    [["a/e b", "a@b.org"], "is not the name of a host"],
    [[host, "ada"], "is not an e-mail address"],
    [[host, "a/@b.org"], "is not an e-mail address"],
  ])("rejects %j", async (args, message) => {
    expect(await makeEnv(...args)).toEqual({ code: 2, output: expect.stringContaining(message) });
  });
});

describe("the unit of systemd", () => {
  test("waits longer than the service needs to stop", async () => {
    const [, timeout] = /^TimeoutStopSec=(\d+)$/m.exec(await read("tidings@.service")) ?? [];
    const drain = Number(parse(await read("tidings.env.example")).TIDINGS_DRAIN_DELAY);
    expect(Number(timeout)).toBeGreaterThan(drain + longestStop);
  });

  test("sets only settings that exist", async () => {
    const [, line = ""] = /^Environment=(.*)$/m.exec(await read("tidings@.service")) ?? [];
    const names = Array.from(line.matchAll(/(\w+)=/g), ([, name]) => name);
    expect(names.filter((name) => name !== "NODE_ENV" && !known.has(String(name)))).toEqual([]);
  });

  test.skipIf(!hasProgram("systemd-analyze"))(
    "is valid and well confined (skipped without systemd-analyze)",
    async () => {
      const unit = join(folder, "tidings@3000.service");
      // Node may be elsewhere on this machine.
      await writeFile(unit, (await read("tidings@.service")).replace("/usr/bin/node", process.execPath));
      expect(await runProgram("systemd-analyze", ["verify", unit])).toEqual({ code: 0, output: "" });
      const { output } = await runProgram("systemd-analyze", ["security", "--offline=true", unit]);
      const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(output) ?? [];
      expect(Number(exposure)).toBeLessThan(2);
    },
  );
});

describe("restart", () => {
  /** Runs it with a systemctl that writes down its arguments. */
  const restart = async (ports: readonly number[], seconds: string) => {
    const calls = join(folder, "calls");
    await writeFile(calls, "");
    await writeFile(join(folder, "systemctl"), `#!/bin/sh\necho "$@" >> "${calls}"\n`, { mode: 0o755 });
    const env = { PATH: `${folder}:${process.env.PATH}`, READY_SECONDS: seconds };
    const { code } = await runProgram("deploy/restart", ports.map(String), env);
    return { code, calls: (await readFile(calls, "utf8")).trimEnd().split("\n") };
  };

  test("restarts each process when the one before is ready", async () => {
    await using one = await startUpstream([{ status: 503 }, {}]);
    await using two = await startUpstream([{}]);
    const [first, second] = [one, two].map(({ url }) => Number(new URL(url).port));
    expect(await restart([first ?? 0, second ?? 0], "30")).toEqual({
      code: 0,
      calls: [`restart tidings@${first}`, `restart tidings@${second}`],
    });
    expect([one, two].map(({ requests }) => requests.map(({ path }) => path))).toEqual([
      ["/readyz", "/readyz"],
      ["/readyz"],
    ]);
  });

  test("leaves the others as they are if one does not become ready", async () => {
    await using one = await startUpstream([{ status: 503 }, { status: 503 }]);
    const port = Number(new URL(one.url).port);
    expect(await restart([port, 1], "1")).toEqual({ code: 1, calls: [`restart tidings@${port}`] });
  });

  test("ends after the given time if a process accepts connections and does not answer", async () => {
    await using one = await startUpstream(["hang"]);
    const port = Number(new URL(one.url).port);
    expect(await restart([port, 1], "1")).toEqual({ code: 1, calls: [`restart tidings@${port}`] });
    expect(one.requests).toHaveLength(1);
  });

  test("needs a port", async () => {
    expect(await runProgram("deploy/restart", [])).toEqual({
      code: 2,
      output: expect.stringContaining("Usage: deploy/restart PORT..."),
    });
  });
});

describe("the file for Compose", () => {
  test("waits longer than the service needs to stop, and sets only settings that exist", async () => {
    const text = await read("compose.yml");
    const [, services = ""] = /x-tidings: &tidings\n([\s\S]*?)\nservices:/.exec(text) ?? [];
    const [, grace] = /stop_grace_period: (\d+)s/.exec(services) ?? [];
    const drain = Number(parse(await read("tidings.env.example")).TIDINGS_DRAIN_DELAY);
    expect(Number(grace)).toBeGreaterThan(drain + longestStop);
    const names = Array.from(services.matchAll(/^ {4}([A-Z_]+): /gm), ([, name]) => String(name));
    expect(names).not.toHaveLength(0);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });

  test.skipIf(!hasProgram("docker-compose"))(
    "is valid, and demands its variables (skipped without docker-compose)",
    async () => {
      await cp("deploy", folder, { recursive: true });
      await writeFile(join(folder, "tidings.env"), (await makeEnv(host, "ada@example.org")).output);
      const check = (env: Record<string, string>) =>
        runProgram(
          "docker-compose",
          ["--project-directory", folder, "-f", join(folder, "compose.yml"), "config"],
          env,
        );
      const { code, output } = await check({ SITE: host, POSTGRES_PASSWORD: "secret" });
      expect([code, output]).toEqual([0, expect.stringContaining(`SITE: ${host}`)]);
      expect(output.match(/postgres:\/\/tidings:secret@database:5432\/tidings/g)).toHaveLength(2);
      const { code: failed, output: message } = await check({ SITE: host, POSTGRES_PASSWORD: "" });
      expect([failed, message]).toEqual([1, expect.stringContaining("set it in deploy/.env")]);
    },
  );
});

describe.skipIf(!hasProgram("caddy"))("the Caddyfile (skipped without caddy)", () => {
  test("is valid and formatted", async () => {
    const env = { HOME: folder };
    const args = ["validate", "--adapter", "caddyfile", "--config", "deploy/Caddyfile"];
    expect((await runProgram("caddy", args, env)).code).toBe(0);
    expect((await runProgram("caddy", ["fmt", "deploy/Caddyfile"], env)).output).toBe(
      await read("Caddyfile"),
    );
  });
});

describe.skipIf(!hasProgram("promtool"))("prometheus.yml (skipped without promtool)", () => {
  test("is valid, and its rules are beside it", async () => {
    const args = ["check", "config", "--syntax-only", resolve("deploy/monitoring/prometheus.yml")];
    const { code, output } = await runProgram("promtool", args);
    expect([code, output]).toEqual([0, expect.stringContaining("is valid prometheus config file syntax")]);
    expect(await read("monitoring/prometheus.yml")).toContain("- tidings-rules.yml\n");
  });
});
