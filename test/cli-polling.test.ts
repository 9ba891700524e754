/** How `tidings logs --follow` and `tidings listen` poll: what they wait for, and what ends them. */
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { pollEvents } from "../src/cli/remote/events.ts";
import { CallFailure, createClient } from "../src/client/index.ts";
import { fail } from "../tools/errors.ts";
import { ownerKey } from "./support/app.ts";
import { certificate, certificateKey } from "./support/certificate.ts";
import { startProcess } from "./support/process.ts";

const page = { data: [], meta: { cursor: "c2" } };
const code = (name: string) => Object.assign(new Error(name), { code: name });
const answer = (status: number, body: object = {}) => ({ status, headers: {}, body });
const rejection = answer(403, fail("insufficient_scope").body());

/** Polls a service of which the first call has this outcome; later calls are answered. */
async function poll(outcome: Error | ReturnType<typeof answer>, position: { readonly after?: string } = {}) {
  const counts = { calls: 0, waits: 0 };
  const client = createClient({
    retries: 0,
    transport: {
      async send() {
        counts.calls += 1;
        if (counts.calls > 1) {
          return answer(200, page);
        }
        if (outcome instanceof Error) {
          throw outcome;
        }
        return outcome;
      },
    },
  });
  const onWait = () => {
    counts.waits += 1;
  };
  const result = pollEvents(client, { types: "message.sent", position, onWait });
  return { result: await result.catch((error: unknown) => error), ...counts };
}

describe.concurrent("a poll is repeated after", () => {
  test.each([
    ...["ECONNREFUSED", "ECONNRESET", "ENETDOWN", "EAI_AGAIN", "ENOTFOUND", "ETIMEDOUT"].map(code),
    ...[429, 500, 502, 503].map((status) => answer(status)),
  ])("%o", async (outcome) => {
    expect(await poll(outcome)).toEqual({ result: page, calls: 2, waits: 1 });
  });

  test("an answer of another program, once the service has answered", async () => {
    expect(await poll(answer(404), { after: "c1" })).toEqual({ result: page, calls: 2, waits: 1 });
  });
});

test.each([
  ["an error of this process", new TypeError("undefined is not a function")],
  ["an address that is no URL", code("ERR_INVALID_URL")],
  ["an unknown certificate", code("DEPTH_ZERO_SELF_SIGNED_CERT")],
])("a poll ends with %s", async (_, cause) => {
  expect(await poll(cause, { after: "c1" })).toMatchObject({ result: { cause }, calls: 1, waits: 0 });
});

test.each([
  ["a rejection of the service", rejection, { after: "c1" }, 403],
  ["a rejection before the service has answered", answer(404), {}, 404],
])("a poll ends with %s", async (_, outcome, position, status) => {
  const { result, ...counts } = await poll(outcome, position);
  expect(result).toBeInstanceOf(CallFailure);
  expect(result).toMatchObject({ status });
  expect(counts).toEqual({ calls: 1, waits: 0 });
});

test("tidings listen ends with an error when the certificate of the service is not known", async () => {
  const server = createServer({ cert: certificate, key: certificateKey }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  const address = `https://127.0.0.1:${port}`;
  const listening = startProcess(["listen", "--forward-to", "http://127.0.0.1:1/"], {
    TIDINGS_BASE_URL: address,
    TIDINGS_API_KEY: ownerKey,
    // The signing secret is kept there.
    TIDINGS_DATA_DIR: join(inject("folder"), "polling"),
  });
  onTestFinished(() => listening.end("SIGKILL"));
  await once(listening.child, "close");
  expect(listening.child.exitCode).toBe(1);
  expect(listening.stderr()).toBe(
    `tidings: The service at ${address} can't be called: self-signed certificate\n`,
  );
});
