/**
 * Packs dist-bundle/tidings.mcpb, the MCP bundle that desktop clients install by a double click.
 *
 * Rebuilds dist/ and packs the part for forwarding: the command and the chunks that it imports without the
 * service. The bundle runs without node_modules, which only the service needs.
 */
import { execFileSync } from "node:child_process";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { manifest } from "./manifest.ts";

const outdir = "dist-bundle";
const staged = join(outdir, "tidings");
const packed = join(outdir, "tidings.mcpb");

await import("../build.ts");
await rm(outdir, { recursive: true, force: true });
await stage(await listImports(manifest.server.entry_point));
mcpb("validate", join(staged, "manifest.json"));
mcpb("pack", staged, packed);

/** The files that an entry point imports, statically or dynamically, without the service. */
async function listImports(entry: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [entry],
    external: ["./doctor.js", "./serve.js", "./instance.js", "./whatsapp-emulator.js"],
    bundle: true,
    format: "esm",
    platform: "node",
    outdir,
    metafile: true,
    write: false,
  });
  return Object.keys(metafile.inputs);
}

async function stage(files: readonly string[]): Promise<void> {
  await mkdir(staged, { recursive: true });
  await Promise.all([
    ...files.map((file) => cp(file, join(staged, file))),
    writeJson("manifest.json", manifest),
    // Without this file, Node parses each file twice to detect that it is an ES module.
    writeJson("package.json", { name: manifest.name, version: manifest.version, type: "module" }),
  ]);
}

function writeJson(name: string, value: object): Promise<void> {
  return writeFile(join(staged, name), `${JSON.stringify(value, null, 2)}\n`);
}

/** Anthropic's packer, downloaded by npx because no other script needs it. */
function mcpb(...args: readonly string[]): void {
  execFileSync("npx", ["-y", "@anthropic-ai/mcpb@2.1.2", ...args], {
    stdio: "inherit",
    shell: process.platform === "win32",
  });
}
