/** A server proves that it has the key of the data folder; nothing else does. */
import { createHmac } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createVerifier } from "../src/cli/data-folder/verify-server.ts";
import { startTestApp, useTestApp } from "./support/app.ts";
import { ownPort } from "./support/own-port.ts";
import { startReceiver } from "./support/receiver.ts";

const key = `sk_live_${"k".repeat(43)}`;
const nonce = "n".repeat(43);
const route = "/data-folder/proof";

const warn = vi.fn();
beforeEach(() => {
  warn.mockReset();
  vi.spyOn(console, "error").mockImplementation(warn);
});

function verifierFor(credential: string | undefined) {
  return createVerifier({ path: "/data", storedCredential: async () => credential });
}

/** A proof, written from the description of the protocol alone. */
function prove(url: string | undefined, address: string): string {
  const sent = new URL(url ?? "", address).searchParams.get("nonce");
  return createHmac("sha256", key).update(`tidings data folder\n${sent}\n${address}`).digest("base64url");
}

describe("a running app", () => {
  const app = useTestApp({ localKey: key, env: { TIDINGS_RATE_LIMIT: "1", TIDINGS_RATE_BURST: "1" } });

  test("proves that it has the key", async () => {
    expect(await verifierFor(key)(app.address)).toBe(app.address);
    expect(warn).not.toHaveBeenCalled();
  });

  test("proves nothing to a folder without a key", async () => {
    expect(await verifierFor(undefined)(app.address)).toBeUndefined();
  });

  test("does not prove that it has another key", async () => {
    expect(await verifierFor(`sk_live_${"x".repeat(43)}`)(app.address)).toBeUndefined();
    expect(warn.mock.calls).toEqual([[expect.stringContaining(`${app.address} did not prove`)]]);
  });

  test("proves nothing for a program that passes the nonce on", async () => {
    await using other = await startReceiver(async (request, response) => {
      const answer = await fetch(app.address + request.url, { headers: { "x-forwarded-host": "other" } });
      response.writeHead(answer.status).end(await answer.text());
    });
    expect(await verifierFor(key)(`http://127.0.0.1:${other.port}`)).toBeUndefined();
    expect(other.requests).toBe(1);
  });

  test("proves nothing for a program that redirects to it", async () => {
    await using other = await startReceiver((request, response) => {
      response.writeHead(307, { location: app.address + request.url }).end();
    });
    expect(await verifierFor(key)(`http://127.0.0.1:${other.port}`)).toBeUndefined();
  });

  test("signs nothing but a nonce and its own address", async () => {
    const answer = await app.fetch(`${route}?nonce=${nonce}`, { key: null, headers: { host: "other" } });
    expect(await answer.text()).toBe(prove(`?nonce=${nonce}`, app.address));
    expect(answer.headers.get("cache-control")).toBe("no-store");
    for (const query of ["", `?nonce=${nonce}n`, `?nonce=${nonce}&nonce=${nonce}`, `?nonce=${nonce}%0A`]) {
      expect((await app.fetch(route + query, { key: null })).status).toBe(400);
    }
  });

  test("answers more often than other requests without a credential", async () => {
    const statuses: number[] = [];
    for (let number = 0; number < 5; number += 1) {
      statuses.push((await app.fetch(`${route}?nonce=${nonce}`, { key: null })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
  });
});

test("an app on every interface proves itself at the loopback address", async () => {
  await using app = await startTestApp({ localKey: key, host: "0.0.0.0" });
  expect(await verifierFor(key)(app.address)).toBe(app.address);
  expect(await verifierFor(key)(app.address.replace("127.0.0.1", "localhost"))).toBe(app.address);
});

test("an app without the key of a data folder has no such route", async () => {
  await using app = await startTestApp();
  expect((await app.fetch(`${route}?nonce=${nonce}`)).status).toBe(404);
});

test("a server is asked once as long as it runs, and its successor at the address again", async () => {
  const verify = verifierFor(key);
  const real = await listen((request, response) => response.end(prove(request.url, real.address)));
  const requests = vi.fn();
  real.server.on("request", requests);
  expect([await verify(real.address), await verify(real.address)]).toEqual([real.address, real.address]);
  expect(requests).toHaveBeenCalledTimes(1);

  await real.stop();
  await expect.poll(() => verify(real.address)).toBeUndefined();
  const other = await listen((_, response) => response.end("ok"));
  expect(await verify(real.address)).toBeUndefined();
  expect(warn).toHaveBeenCalledTimes(1);
  await other.stop();

  const returned = await listen((request, response) => response.end(prove(request.url, real.address)));
  expect(await verify(real.address)).toBe(real.address);
  await returned.stop();
});

test.each<[string, RequestListener]>([
  ["an endless answer", (_, response) => void writeForever(response)],
  ["an empty answer", (_, response) => void response.end()],
  ["the nonce", (request, response) => void response.end(request.url?.split("=")[1])],
  [
    "the proof for its name",
    (request, response) => void response.end(prove(request.url, "http://localhost")),
  ],
])("%s proves nothing", async (_, answer) => {
  await using other = await startReceiver(answer);
  expect(await verifierFor(key)(`http://127.0.0.1:${other.port}`)).toBeUndefined();
  expect(warn).toHaveBeenCalledTimes(1);
});

function writeForever(response: Parameters<RequestListener>[1]): void {
  while (response.write("x".repeat(1_000))) {
    // Until the buffer is full.
  }
  response.once("drain", () => writeForever(response));
}

/** Always at the same port. */
async function listen(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(ownPort, "127.0.0.1", resolve));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { server, address: `http://127.0.0.1:${ownPort}`, stop };
}
