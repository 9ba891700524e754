/**
 * Packs the package as it would be published, and installs it in an empty folder for each supported Node:
 * `tidings` starts a service there, and a program of that folder calls it with `tidings/client`.
 *
 * The program is also compiled, with the types that the package exports. Other versions of Node come from the
 * registry.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const versions = ["20", "22", "24"];
const key = `sk_live_${"k".repeat(43)}`;
const run = promisify(execFile);

/** What a user of the package would write. */
const program = `import { CallFailure, createClient, operations, type OutputOf } from "tidings/client";

const client = createClient({ baseUrl: process.argv[2] ?? "", key: ${JSON.stringify(key)} });
const sent: OutputOf<typeof operations.send_message> = await client.call(operations.send_message, {
  to: "+14155550123",
  type: "text",
  text: { body: "Hello!" },
});
// @ts-expect-error The id of a contact is a text.
const wrong = client.call(operations.get_contact, { id: 1 });
const code = await wrong.then(
  () => "none",
  (error: unknown) => (error instanceof CallFailure ? error.code : String(error)),
);
console.log(sent.data.status, code);
await client.close();
`;

const root = await mkdtemp(join(tmpdir(), "tidings-packed-"));
try {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", root]);
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf("[\n"))) as [{ filename: string }];
  for (const version of versions) {
    await check(version, join(root, filename));
  }
} finally {
  await rm(root, { recursive: true, force: true });
}

async function check(version: string, archive: string): Promise<void> {
  const folder = join(root, `node-${version}`);
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await writeFile(join(folder, "program.ts"), program);
  await run("npm", ["install", "--no-audit", "--no-fund", archive], { cwd: folder });
  const compile = ["--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "program.ts"];
  // The compiler of this repository, as users have one of their own.
  const compiler = resolve("node_modules/.bin/tsc");
  const types = ["--typeRoots", resolve("node_modules/@types"), "--skipLibCheck"];
  await run(compiler, ["--ignoreConfig", ...types, ...compile], { cwd: folder });

  const node = ["-y", "-p", `node@${version}`];
  const settings = { TIDINGS_DATA_DIR: join(folder, "data"), TIDINGS_BOOTSTRAP_KEY: key, PORT: "0" };
  const service = spawn("npx", [...node, "node", "node_modules/.bin/tidings", "serve"], {
    cwd: folder,
    env: { ...process.env, ...settings, TIDINGS_LOG_LEVEL: "error" },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  try {
    const address = await readAddress(service);
    const { stdout } = await run("npx", [...node, "node", "program.js", address], { cwd: folder });
    if (stdout !== "queued contact_not_found\n") {
      throw new Error(`The program printed: ${stdout}`);
    }
    const { stdout: name } = await run("npx", [...node, "node", "--version"], { cwd: folder });
    console.log(`Node ${name.trim()}: installed, compiled, served, called.`);
  } finally {
    // Its group, because npx starts Node.
    process.kill(-(service.pid ?? 0), "SIGTERM");
    await once(service, "exit");
  }
}

async function readAddress({ stdout }: ChildProcess): Promise<string> {
  let output = "";
  for await (const chunk of stdout ?? []) {
    output += String(chunk);
    const [, address] = /REST\s+(http:\S+)\/v1[\s\S]*Over HTTP/.exec(output) ?? [];
    if (address) {
      return address;
    }
  }
  throw new Error(`The service ended: ${output}`);
}
