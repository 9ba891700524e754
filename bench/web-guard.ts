/**
 * R7: connection attempts of the service to addresses that customers must not reach.
 *
 * Each address is tried directly and behind a name, with http and https, on a port on which this machine
 * listens. All ports and schemes are allowed, so that only the address decides. Connection attempts are
 * counted at the socket. An allowed address is tried first, to show that counting works.
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
/** 127.0.0.1 stands in for the public internet. */
const publicHere: WebRules = { ...open, allowed: [readSubnet("127.0.0.1")] };
const resolveNothing: ResolveHost = async () => [];

const attempts = recordConnectionAttempts();
await using receiver = await startReceiver((request, response) => {
  const location = `http://127.0.0.2:${receiver.port}/`;
  response.writeHead(request.url === "/redirect" ? 302 : 200, { connection: "close", location }).end();
});
const { port } = receiver;

let tried = 0;
let defects = 0;
await send(publicHere, `http://127.0.0.1:${port}/`);
report("allowed, to check the count", 1);

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

/** The redirecting receiver is allowed; the target of its redirect is not. */
async function follow(): Promise<void> {
  for (let times = 0; times < 20; times += 1) {
    await send(publicHere, `http://127.0.0.1:${port}/redirect`);
  }
  report("redirects", 0, "127.0.0.1");
}

/** Every other answer of the name server is a private address. */
async function rebind(): Promise<void> {
  let lookups = 0;
  const alternate: ResolveHost = async () => {
    lookups += 1;
    return [lookups % 2 === 1 ? "127.0.0.1" : "127.0.0.2"];
  };
  await using web = createWeb({ rules: publicHere, resolve: alternate });
  for (let times = 0; times < 40; times += 1) {
    tried += 1;
    await request(web, `http://rebinding.example.com:${port}/`);
  }
  report("rebinding", 0, "127.0.0.1");
}

async function send(rules: WebRules, url: string, resolve = resolveNothing): Promise<void> {
  tried += 1;
  await using web = createWeb({ rules, resolve });
  await request(web, url);
}

async function request(web: ReturnType<typeof createWeb>, url: string): Promise<void> {
  await web.send({ method: "GET", url, timeoutMs: 1_000, maxBytes: 1_000, tooLarge: "cut" });
}

/** Reports the connections since the last report, except connections to the `reachable` address. */
function report(kind: string, expected: number, reachable?: string): void {
  const seen = attempts.addresses.filter((address) => address !== reachable).length;
  const allowed = attempts.addresses.length - seen;
  const note = allowed > 0 ? `, and ${allowed} to the public one` : "";
  console.log(`${kind.padEnd(28)} ${String(tried).padStart(4)} tried, ${seen} connections${note}`);
  defects += seen === expected ? 0 : 1;
  tried = 0;
  attempts.clear();
}
