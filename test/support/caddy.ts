/** Runs Caddy with the Caddyfile of deploy/, in front of services of a test. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "./served-process.ts";

export interface Caddy extends AsyncDisposable {
  readonly address: string;
}

/** @param services the addresses of the services, `http://host:port`. */
export async function startCaddy(services: readonly string[]): Promise<Caddy> {
  const home = await mkdtemp(join(tmpdir(), "tidings-caddy-"));
  const address = `http://127.0.0.1:${await findFreePort()}`;
  const child = spawn("caddy", ["run", "--config", "deploy/Caddyfile"], {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      SITE: address,
      UPSTREAMS: services.map((service) => new URL(service).host).join(" "),
      CADDY_ADMIN: `unix/${join(home, "admin.sock")}`,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  ended.catch(() => undefined); // awaited when it is stopped
  let log = "";
  child.stderr.on("data", (chunk) => (log += String(chunk)));
  await waitUntil(async () => {
    if (child.exitCode !== null) {
      throw new Error(`caddy exited with ${child.exitCode}: ${log}`);
    }
    return (await fetch(`${address}/healthz`).catch(() => undefined))?.ok ?? false;
  });
  return {
    address,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
      await rm(home, { recursive: true });
    },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
