/**
 * Runs the official conformance suite against the built service, for the 2025-11-25 and the 2026-07-28 revision.
 *
 * conformance-baseline.yml names what needs the suite's own test tools; anything else that fails, and any
 * entry that passes, ends this with 1. The suite needs Node 22 and sends no credential, so it runs on a Node
 * from the registry, through a proxy on loopback that adds the key.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const suite = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const revisions = ["2025-11-25", "2026-07-28"];
const key = `sk_live_${"k".repeat(43)}`;
const dataDir = await mkdtemp(join(tmpdir(), "tidings-conformance-"));
const service = spawn(process.execPath, ["dist/tidings.js", "serve"], {
  env: {
    ...process.env,
    TIDINGS_DATA_DIR: dataDir,
    PORT: "0",
    TIDINGS_BOOTSTRAP_KEY: key,
    TIDINGS_LOG_LEVEL: "error",
    TIDINGS_RATE_LIMIT: "100000",
    TIDINGS_RATE_BURST: "100000",
  },
  stdio: ["ignore", "pipe", "inherit"],
});
const proxy = await openProxy(await address());
try {
  for (const revision of revisions) {
    await conform(revision);
  }
} finally {
  proxy.close();
  service.kill("SIGTERM");
  await once(service, "exit");
  await rm(dataDir, { recursive: true, force: true });
}

async function conform(revision: string): Promise<void> {
  const { port } = proxy.address() as AddressInfo; // a TCP port, as asked for
  const command = ["-y", "-p", "node@24", "-p", suite, "conformance", "server"];
  const url = `http://localhost:${port}/mcp`;
  const output = await mkdtemp(join(tmpdir(), "tidings-conformance-"));
  const given = ["--url", url, "--requirements", revision, "-o", output];
  const run = spawn("npx", [...command, ...given, "--expected-failures", "conformance-baseline.yml"], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 240_000,
  });
  let told = "";
  run.stdout.on("data", (chunk) => {
    told += String(chunk);
  });
  const [code] = await once(run, "exit");
  await rm(output, { recursive: true, force: true });
  console.log(`\n== ${revision}\n${told.split("\n").slice(-45).join("\n")}`);
  if (code !== 0) {
    process.exitCode = 1;
  }
}

/** Where the service listens, as it says itself. */
async function address(): Promise<string> {
  let said = "";
  for await (const chunk of service.stdout) {
    said += String(chunk);
    const [, found] = /MCP +(http:\S+)\/mcp/.exec(said) ?? [];
    if (found !== undefined) {
      service.stdout.resume();
      return found;
    }
  }
  throw new Error("The service ended before it listened. Run npm run build first.");
}

async function openProxy(target: string) {
  const server = createServer((incoming, answer) => {
    const headers = { ...incoming.headers, "x-api-key": key };
    const outgoing = request(new URL(incoming.url ?? "/", target), { method: incoming.method, headers });
    outgoing.on("response", (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers);
      given.pipe(answer);
    });
    outgoing.on("error", () => answer.destroy());
    answer.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
