/**
 * R7: addresses that customers may not make the service reach, and the connections that were begun to them.
 *
 * Each is tried as it is and behind a name, by http and https, on a port where this machine listens; ports
 * and schemes are left open, so that only the address decides. Connections are counted at the socket,
 * whether anyone listens or not. That the count works is shown first, on an address that is allowed.
 */
import { readSubnet } from "../src/adapters/web/addresses.ts";
import { createWeb } from "../src/adapters/web/index.ts";
import type { ResolveHost } from "../src/adapters/web/resolve.ts";
import type { WebRules } from "../src/adapters/web/rules.ts";
import { recordConnectionAttempts } from "../test/support/connection-attempts.ts";
import { forbiddenAddresses, forbiddenHosts, toUrlHost } from "../test/support/forbidden-addresses.ts";
import { startReceiver } from "../test/support/receiver.ts";

const open = { schemes: ["http:", "https:"], ports: "any" as const };
const guarded: WebRules = { ...open, allowed: [] };
/** 127.0.0.1 plays the public internet. */
const publicHere: WebRules = { ...open, allowed: [readSubnet("127.0.0.1")] };
const nobody: ResolveHost = async () => [];

const attempts = recordConnectionAttempts();
await using receiver = await startReceiver((request, response) => {
  const location = `http://127.0.0.2:${receiver.port}/`;
  response.writeHead(request.url === "/redirect" ? 302 : 200, { connection: "close", location }).end();
});
const { port } = receiver;

let tried = 0;
let defects = 0;
await send(publicHere, `http://127.0.0.1:${port}/`);
report("allowed, to prove the count", 1);

for (const [kind, addresses] of Object.entries(forbiddenAddresses)) {
  for (const address of addresses) {
    for (const scheme of ["http", "https"]) {
      await send(guarded, `${scheme}://${toUrlHost(address)}:${port}/`);
      await send(guarded, `${scheme}://name.example.com:${port}/`, async () => [address]);
    }
  }
  report(kind, 0);
}
for (const [kind, hosts] of Object.entries(forbiddenHosts)) {
  for (const host of hosts) {
    for (const scheme of ["http", "https"]) {
      await send(guarded, `${scheme}://${host}:${port}/`);
    }
  }
  report(kind, 0);
}
await follow();
await rebind();
console.log(
  defects === 0 ? "target: 0 connections, met" : `target: 0 connections, missed by ${defects} kinds`,
);
process.exitCode = defects === 0 ? 0 : 1;

/** The redirecting receiver itself may be reached; where it sends to may not. */
async function follow(): Promise<void> {
  for (let times = 0; times < 20; times += 1) {
    await send(publicHere, `http://127.0.0.1:${port}/redirect`);
  }
  report("redirects", 0, "127.0.0.1");
}

/** Every other answer of the name server is private. */
async function rebind(): Promise<void> {
  let asked = 0;
  const fickle: ResolveHost = async () => {
    asked += 1;
    return [asked % 2 === 1 ? "127.0.0.1" : "127.0.0.2"];
  };
  await using web = createWeb({ rules: publicHere, resolve: fickle });
  for (let times = 0; times < 40; times += 1) {
    tried += 1;
    await ask(web, `http://rebinding.example.com:${port}/`);
  }
  report("rebinding", 0, "127.0.0.1");
}

async function send(rules: WebRules, url: string, resolve = nobody): Promise<void> {
  tried += 1;
  await using web = createWeb({ rules, resolve });
  await ask(web, url);
}

async function ask(web: ReturnType<typeof createWeb>, url: string): Promise<void> {
  await web.send({ method: "GET", url, timeoutMs: 1_000, maxBytes: 1_000, tooLarge: "cut" });
}

/** Connections since the last report, but for those to an address that may be reached. */
function report(kind: string, expected: number, reachable?: string): void {
  const seen = attempts.addresses.filter((address) => address !== reachable).length;
  const allowed = attempts.addresses.length - seen;
  const note = allowed > 0 ? `, and ${allowed} to the public one` : "";
  console.log(`${kind.padEnd(28)} ${String(tried).padStart(4)} tried, ${seen} connections${note}`);
  defects += seen === expected ? 0 : 1;
  tried = 0;
  attempts.clear();
}
