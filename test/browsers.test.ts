/** What browsers are sent: CORS headers for allowed origins only, and compressed answers without secrets. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { request } from "undici";
import { describe, expect, test } from "vitest";
import { createEncodeContent } from "../src/http/encodings.ts";
import { ownerKey, useTestApp } from "./support/app.ts";

const origin = "https://app.example.com";

describe("a page of another origin", () => {
  const app = useTestApp({ env: { TIDINGS_CORS_ORIGINS: `${origin}, http://localhost:5173` } });

  const preflight = (path: string, from = origin) =>
    app.fetch(path, {
      method: "OPTIONS",
      key: null,
      headers: {
        origin: from,
        "access-control-request-method": "POST",
        "access-control-request-headers": "x-api-key, idempotency-key, content-type",
      },
    });

  test("may send requests with a key if its origin is allowed", async () => {
    const answer = await preflight("/v1/messages");
    expect(answer.status).toBe(204);
    const headers = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-allow-methods": expect.stringContaining("POST"),
      "access-control-allow-headers": expect.stringContaining("idempotency-key"),
    });
    expect(headers).not.toHaveProperty("access-control-allow-credentials");
  });

  test.each([
    ["an answer", ownerKey, 200],
    ["an error", "sk_live_wrong", 401],
  ])("may read %s", async (_, key, status) => {
    const answer = await app.fetch("/v1/contacts", { key, headers: { origin } });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    expect(answer.headers.get("access-control-expose-headers")).toContain("x-request-id");
    expect(answer.headers.get("vary")).toMatch(/origin/i);
  });

  test.each([
    "https://app.example.com.evil.example",
    "http://app.example.com",
    "null",
    "https://other.example",
  ])("may read nothing if its origin is %s", async (other) => {
    const answers = [
      await preflight("/v1/messages", other),
      await app.fetch("/v1/contacts", { headers: { origin: other } }),
    ];
    for (const { headers } of answers) {
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test.each(["/mcp", "/webhooks/payments", "/data-folder/keys", "/healthz", "/metrics", "/operator/x"])(
    "may not read %s",
    async (path) => {
      for (const answer of [await preflight(path), await app.fetch(path, { headers: { origin } })]) {
        expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      }
    },
  );
});

describe("without the setting", () => {
  const app = useTestApp();

  test("no origin may read anything", async () => {
    const headers = { origin, "access-control-request-method": "POST" };
    const preflight = await app.fetch("/v1/messages", { method: "OPTIONS", headers });
    expect(preflight.status).toBe(405);
    const answer = await app.fetch("/v1/contacts", { headers: { origin } });
    for (const each of [preflight, answer]) {
      expect(each.headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  /** Sends no `accept-encoding` of its own, and decompresses nothing. */
  const ask = async (path: string, encoding?: string, body?: object) => {
    const {
      headers,
      body: answer,
      statusCode,
    } = await request(app.server.address + path, {
      method: body ? "POST" : "GET",
      headers: {
        "x-api-key": ownerKey,
        "content-type": "application/json",
        ...(encoding === undefined ? {} : { "accept-encoding": encoding }),
      },
      body: body ? JSON.stringify(body) : null,
    });
    expect(statusCode).toBeLessThan(300);
    return { headers, bytes: Buffer.from(await answer.arrayBuffer()) };
  };

  test.each([
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
  ])("a large answer is compressed with %s for who accepts it", async (encoding, decompress) => {
    const plain = await ask("/v1/openapi.json");
    const compressed = await ask("/v1/openapi.json", encoding);
    expect(plain.headers).not.toHaveProperty("content-encoding");
    expect(compressed.headers).toMatchObject({
      "content-encoding": encoding,
      vary: expect.stringMatching(/accept-encoding/i),
    });
    expect(compressed.bytes.length).toBeLessThan(plain.bytes.length / 4);
    expect(decompress(compressed.bytes).equals(plain.bytes)).toBe(true);
  });

  test("what needs no credential is compressed once for each encoding", async () => {
    const encode = createEncodeContent(Buffer.alloc(2_000, "x"));
    const { content, headers } = await encode("gzip, br");
    expect(headers).toEqual({ vary: "accept-encoding", "content-encoding": "br" });
    expect((await encode("br;q=0.5")).content).toBe(content);
    const gzipped = await encode("br;q=0, gzip");
    expect(gzipped.headers).toEqual({ vary: "accept-encoding", "content-encoding": "gzip" });
    expect((await encode("gzip")).content).toBe(gzipped.content);
  });

  test("a small answer is not compressed", async () => {
    expect((await ask("/v1/whoami", "br")).headers).not.toHaveProperty("content-encoding");
  });

  test("an answer that shows a secret is not compressed", async () => {
    const webhook = { url: `https://example.com/${"x".repeat(1_500)}`, events: ["message.received"] };
    const { headers, bytes } = await ask("/v1/webhook-subscriptions", "br, gzip", webhook);
    expect(bytes.length).toBeGreaterThan(1_500);
    expect(headers).not.toHaveProperty("content-encoding");
    const listed = await ask("/v1/webhook-subscriptions", "br, gzip");
    expect(listed.headers).toHaveProperty("content-encoding", "br");
  });
});
