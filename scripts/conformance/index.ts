/**
 * Runs the official conformance suite against the built service, for the 2025-11-25 and the 2026-07-28
 * revision.
 *
 * test/conformance-baseline.yml lists the checks that need the suite's own test tools; any other failure, and
 * any listed check that passes, sets the exit code 1. The suite needs Node 22 and sends no credential, so it
 * runs with a Node from the registry, through a local proxy that adds the key.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBuiltService } from "./service.ts";

const suite = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const revisions = ["2025-11-25", "2026-07-28"];

await using service = await startBuiltService();
const proxy = await openProxy(service.url);
try {
  for (const revision of revisions) {
    await runSuite(revision);
  }
} finally {
  proxy.close();
}

async function runSuite(revision: string): Promise<void> {
  const { port } = proxy.address() as AddressInfo; // it listens on a TCP port
  const command = ["-y", "-p", "node@24", "-p", suite, "conformance", "server"];
  const url = `http://localhost:${port}/mcp`;
  const outputDir = await mkdtemp(join(tmpdir(), "tidings-conformance-"));
  const options = ["--url", url, "--requirements", revision, "-o", outputDir];
  const run = spawn("npx", [...command, ...options, "--expected-failures", "test/conformance-baseline.yml"], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 240_000,
  });
  let output = "";
  run.stdout.on("data", (chunk) => {
    output += String(chunk);
  });
  const [code] = await once(run, "exit");
  await rm(outputDir, { recursive: true, force: true });
  console.log(`\n== ${revision}\n${output.split("\n").slice(-45).join("\n")}`);
  if (code !== 0) {
    process.exitCode = 1;
  }
}

async function openProxy(target: string) {
  const server = createServer((incoming, answer) => {
    const headers = { ...incoming.headers, "x-api-key": service.key };
    const outgoing = request(new URL(incoming.url ?? "/", target), { method: incoming.method, headers });
    outgoing.on("response", (upstream) => {
      answer.writeHead(upstream.statusCode ?? 502, upstream.headers);
      upstream.pipe(answer);
    });
    outgoing.on("error", () => answer.destroy());
    answer.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
