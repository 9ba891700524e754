/** The guarded web: what a request sends and returns, its limits and its failures. */
import { setMaxListeners } from "node:events";
import type { RequestListener } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { certificate, certificateKey } from "./support/certificate.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { startReceiver } from "./support/receiver.ts";
import { openWeb, requestDefaults, textOf, useConnectionAttempts } from "./support/web.ts";

const attempts = useConnectionAttempts();

describe("a request", () => {
  test("sends method, headers and body, and returns the response, over reused connections", async () => {
    const seen: unknown[] = [];
    await using receiver = await startReceiver(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) {
        chunks.push(chunk);
      }
      const { method, url, headers } = request;
      seen.push([
        method,
        url,
        headers["x-mine"],
        headers["accept-encoding"],
        Buffer.concat(chunks).toString(),
      ]);
      response.writeHead(201, { "x-theirs": ["a", "b"] }).end("taken");
    });
    await using web = openWeb();
    const url = `http://127.0.0.1:${receiver.port}/hook?q=1#part`;
    const options = { method: "POST", headers: { "X-Mine": "yes" } } as const;
    const answer = await web.send(url, { ...options, body: "text" });
    expect(answer).toMatchObject({ outcome: "answered", status: 201, isCut: false });
    expect(answer).toMatchObject({ headers: { "x-theirs": "a, b" }, ms: expect.any(Number) });
    expect(textOf(answer)).toBe("taken");
    await web.send(url, { ...options, body: Buffer.from("bytes") });
    expect(await web.download(url)).toMatchObject({ outcome: "answered", status: 201, value: "taken" });
    expect(seen).toEqual([
      ["POST", "/hook?q=1", "yes", "identity", "text"],
      ["POST", "/hook?q=1", "yes", "identity", "bytes"],
      ["GET", "/hook?q=1", undefined, "identity", ""],
    ]);
    for (let times = 0; times < 20; times += 1) {
      await web.send(url, options);
    }
    // Two, because a connection that has just answered is not free again at once.
    expect(receiver.connections).toBeLessThanOrEqual(2);
  });

  test("closes a connection that was idle for a second, without a keep-alive header of the host", async () => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    await using web = openWeb();
    let [opened, closed] = [0, 0];
    const server = createServer((socket) => {
      opened += 1;
      socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
      socket.on("close", () => {
        closed += 1;
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a TCP port
    expect(await web.send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
    expect([opened, closed]).toEqual([1, 0]);
    await expect.poll(() => closed).toBe(1);
    expect(timers.mock.calls.map(([, ms]) => ms)).toContain(1_000);
    server.close();
  });

  test("over https requires a trusted certificate", async () => {
    await using receiver = await startReceiver(undefined, {
      tls: { key: certificateKey, cert: certificate },
    });
    const resolve = async () => ["127.0.0.1"];
    const at = (host: string) => `https://${host}:${receiver.port}/`;
    await using untrusting = openWeb({ resolve });
    expect(await untrusting.send(at("receiver.test"))).toMatchObject({ outcome: "failed", reason: "tls" });
    expect(receiver.requests).toBe(0);
    await using trusting = openWeb({ resolve, ca: certificate });
    expect(await trusting.send(at("receiver.test"))).toMatchObject({ outcome: "answered", status: 200 });
    expect(await trusting.send(at("other.test"))).toMatchObject({ outcome: "failed", reason: "tls" });
    expect(receiver.requests).toBe(1);
  });

  const never: RequestListener = () => undefined;
  const drip: RequestListener = (_, response) => {
    const timer = setInterval(() => response.write("."), 5);
    response.once("close", () => clearInterval(timer));
  };

  test.each([
    ["missing headers", never],
    ["a slow body", drip],
  ])("has one time limit: %s", async (_, answer) => {
    await using receiver = await startReceiver(answer);
    await using web = openWeb();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const late = { outcome: "failed", reason: "timeout", detail: "127.0.0.1 did not answer in time." };
    expect(await web.send(url, { timeoutMs: 60 })).toMatchObject(late);
    expect(await web.download(url, { timeoutMs: 60 })).toMatchObject(late);
  });

  test("has one time limit: a silent name server", async () => {
    await using web = openWeb({ resolve: () => new Promise(() => undefined) });
    const answer = await web.send("http://silent.example.com/", { timeoutMs: 40 });
    expect(answer).toMatchObject({ reason: "timeout" });
    expect(attempts.addresses).toEqual([]);
  });

  test("is not sent if its time ended before the connection was made", async () => {
    await using receiver = await startReceiver();
    let answer = (_: string[]) => {};
    const addresses = new Promise<string[]>((resolve) => (answer = resolve));
    await using web = openWeb({ resolve: () => addresses });
    const url = `http://slow.example.com:${receiver.port}/`;
    expect(await web.send(url, { timeoutMs: 40 })).toMatchObject({ reason: "timeout" });
    const next = web.send(url);
    answer(["127.0.0.1"]);
    expect(await next).toMatchObject({ outcome: "answered" });
    expect(receiver.requests).toBe(1);
  });

  test("reads no more of a body than its limit", async () => {
    let written = 0;
    const endless: RequestListener = (_, response) => {
      const chunk = Buffer.alloc(1_000, "x");
      const fill = () => {
        while (!response.destroyed && response.write(chunk)) {
          written += chunk.length;
        }
      };
      response.on("drain", fill);
      fill();
    };
    await using receiver = await startReceiver(endless);
    await using web = openWeb();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const cut = await web.send(url, { maxBytes: 2_500 });
    expect(cut).toMatchObject({ outcome: "answered", isCut: true });
    expect(textOf(cut)).toHaveLength(2_500);
    expect(await web.send(url, { tooLarge: "fail" })).toMatchObject({ reason: "too_large" });
    expect(await web.download(url)).toMatchObject({ outcome: "failed", reason: "too_large" });
    expect(written).toBeLessThan(30_000_000);
  });

  test("with a response of exactly the limit is complete", async () => {
    await using receiver = await startReceiver((_, response) => response.end("x".repeat(1_000)));
    await using web = openWeb();
    const url = `http://127.0.0.1:${receiver.port}/`;
    expect(await web.send(url, { tooLarge: "fail" })).toMatchObject({ outcome: "answered", isCut: false });
    expect(await web.download(url)).toMatchObject({ value: "x".repeat(1_000) });
    expect(await web.download(url, { maxBytes: 999 })).toMatchObject({ reason: "too_large" });
  });

  test("does not decompress the response", async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    });
    await using web = openWeb();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const answer = await web.send(url, { maxBytes: 5_000 });
    expect(Buffer.from(answer.outcome === "answered" ? answer.body : [])).toEqual(bomb);
    expect(await web.download(url, { maxBytes: 5_000 })).toMatchObject({ reason: "malformed" });
  });

  test("ends when the caller aborts, and when the app stops", async () => {
    await using receiver = await startReceiver(never);
    await using web = openWeb();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const controller = new AbortController();
    const aborted = await meanwhile(web.send(url, { signal: controller.signal }), async () => {
      await expect.poll(() => receiver.requests).toBe(1);
      controller.abort();
    });
    expect(aborted).toMatchObject({ outcome: "failed", reason: "aborted" });
    expect(await web.send(url, { signal: AbortSignal.abort() })).toMatchObject({ reason: "aborted" });
    expect(receiver.requests).toBe(1);
    const running = await meanwhile(web.send(url), async () => {
      await expect.poll(() => receiver.requests).toBe(2);
      await web.web[Symbol.asyncDispose]();
    });
    expect(running).toMatchObject({ outcome: "failed", reason: "aborted" });
    expect(await web.send(url)).toMatchObject({ outcome: "failed", reason: "aborted" });
  });

  test("fails with its reason", async () => {
    await using breaking = await startReceiver((request) => request.socket.destroy());
    await using short = await startReceiver((_, response) => {
      response.writeHead(200, { "content-length": "10" }).write("x");
      setImmediate(() => response.socket?.destroy());
    });
    await using odd = await startReceiver(({ socket }) => socket.end("220 mail.example.com ESMTP\r\n"));
    // No service has this port.
    const gone = { port: 1 };
    await using web = openWeb();
    const reasons = [breaking, short, odd, gone].map(async ({ port }) => {
      const answer = await web.send(`http://127.0.0.1:${port}/`);
      return answer.outcome === "failed" ? answer.reason : answer.outcome;
    });
    expect(await Promise.all(reasons)).toEqual(["reset", "reset", "malformed", "refused"]);
    expect(await web.send("http://nowhere.example.com/")).toMatchObject({ reason: "unresolved" });
  });

  test("that hangs delays no other, neither to another receiver nor to the same one", async () => {
    await using receiver = await startReceiver((request, response) => {
      if (request.url !== "/hangs") {
        response.end("ok");
      }
    });
    await using healthy = await startReceiver();
    await using web = openWeb();
    const stop = new AbortController();
    setMaxListeners(100, stop.signal);
    const stuck = Array.from({ length: 100 }, () =>
      web.send(`http://127.0.0.1:${receiver.port}/hangs`, { signal: stop.signal }),
    );
    await meanwhile(Promise.all(stuck), async () => {
      await expect.poll(() => receiver.requests).toBe(100);
      const answers = [healthy, receiver].flatMap(({ port }) =>
        Array.from({ length: 20 }, () => web.send(`http://127.0.0.1:${port}/`)),
      );
      const outcomes = (await Promise.all(answers)).map(({ outcome }) => outcome);
      expect(new Set(outcomes)).toEqual(new Set(["answered"]));
      stop.abort();
    });
  });

  test("ends even if its consumer stops or fails", async () => {
    await using receiver = await startReceiver(drip);
    await using web = openWeb();
    const request = { ...requestDefaults, url: `http://127.0.0.1:${receiver.port}/` };
    const stopped = await web.web.download(request, async ({ status }) => status);
    expect(stopped).toMatchObject({ outcome: "answered", value: 200 });
    const failing = web.web.download(request, async () => {
      throw new Error("the disk is full");
    });
    await expect(failing).rejects.toThrow("the disk is full");
    // A consumer that ignores the error must not turn half a file into a success.
    const swallowed = await web.web.download({ ...request, maxBytes: 3 }, async ({ body }) => {
      const drain = async () => {
        for await (const _ of body) {
          // reads to the end
        }
      };
      await drain().catch(() => undefined);
      return "half";
    });
    expect(swallowed).toMatchObject({ outcome: "failed", reason: "too_large" });
  });
});
