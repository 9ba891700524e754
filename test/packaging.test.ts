/** Package metadata: one version everywhere, and only files, tools and settings that exist. */
import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import plugin from "../.claude-plugin/plugin.json" with { type: "json" };
import about from "../package.json" with { type: "json" };
import { manifest } from "../scripts/package/manifest.ts";
import server from "../server.json" with { type: "json" };
import { embeddedTools } from "../src/cli/embedded-tools.ts";
import { version } from "../src/cli/version.ts";
import { settings } from "../src/config/index.ts";

const known = settings.map(({ name }) => name);

test("all files contain the same version", () => {
  const versions = [version, server.version, manifest.version, plugin.version];
  expect(versions).toEqual(Array(4).fill(about.version));
});

test("server.json meets the registry's requirements", () => {
  expect(server.$schema).toMatch(/\/schemas\/2025-12-11\/server\.schema\.json$/);
  expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(server.name).toBe(about.mcpName);
  expect(server.title.length).toBeLessThanOrEqual(100);
  expect(server.description.length).toBeLessThanOrEqual(100);
});

test("server.json lists no package while none is published", () => {
  expect(about.private).toBe(true);
  expect(server).not.toHaveProperty("packages");
});

test("every variable of a remote's address and headers is declared, and the key is secret", () => {
  expect(server.remotes).not.toHaveLength(0);
  for (const { type, url, variables, headers } of server.remotes) {
    expect(type).toBe("streamable-http");
    expect(variablesIn(url)).toEqual(Object.keys(variables));
    for (const header of headers) {
      expect(variablesIn(header.value)).toEqual(Object.keys(header.variables));
      expect(Object.values(header.variables).every(({ isSecret }) => isSecret)).toBe(true);
    }
  }
});

test("the bundle lists the existing tools and asks for the settings that forwarding needs", () => {
  expect(manifest.tools.map(({ name }) => name)).toEqual(embeddedTools);
  const { env } = manifest.server.mcp_config;
  expect(known).toEqual(expect.arrayContaining(Object.keys(env)));
  const filled = Object.values(env).map((value) => /^\$\{user_config\.(\w+)\}$/.exec(value)?.[1]);
  expect(filled).toEqual(Object.keys(manifest.user_config));
  expect(manifest.user_config.api_key.sensitive).toBe(true);
});

test("the package is a plugin with the skills, which starts the package's own program", () => {
  expect(about.files).toEqual(["dist", "dist-types", "skills", ".claude-plugin"]);
  expect(plugin.name).toBe(about.name);
  expect(plugin.mcpServers.tidings).toEqual({
    command: "node",
    args: [["$", "{CLAUDE_PLUGIN_ROOT}/", about.bin.tidings].join(""), "mcp"],
  });
});

test("the image sets only existing settings", async () => {
  const dockerfile = await readFile("deploy/Dockerfile", "utf8");
  const [, line = ""] = /^ENV (.*)$/m.exec(dockerfile) ?? [];
  const names = Array.from(line.matchAll(/(\w+)=/g), ([, name]) => name);
  expect(["NODE_ENV", ...known]).toEqual(expect.arrayContaining(names));
});

test("every example is run, and those with packages pin exact versions", async () => {
  const runners = ["scripts/examples/index.ts", "scripts/conformance/openapi.ts"];
  const text = (await Promise.all(runners.map((file) => readFile(file, "utf8")))).join("\n");
  const names = await readdir("examples");
  expect(names.filter((name) => !text.includes(`"${name}"`))).toEqual([]);
  const bots = names.filter((name) => name.endsWith("-bot"));
  expect(bots).not.toHaveLength(0);
  for (const name of bots) {
    const { dependencies } = JSON.parse(await readFile(`examples/${name}/package.json`, "utf8"));
    const loose = Object.entries(dependencies).filter(([, range]) => !/^\d+\.\d+\.\d+$/.test(String(range)));
    expect(loose).toEqual([]);
  }
});

function variablesIn(template: string): string[] {
  return Array.from(template.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
}
