/** The pages of the console: files of its build, addresses of its views, headers, and who may read them. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { request } from "undici";
import { afterAll, describe, expect, test } from "vitest";
import { useTestApp } from "./support/app.ts";

const page = '<!doctype html><script type="module" src="/console/assets/app-0a1b2c3d.js"></script>';
const script = `console.log("${"x".repeat(200)}");`;

const folder = await mkdtemp(join(tmpdir(), "tidings-console-"));
await mkdir(join(folder, "assets"));
const files: Record<string, string | Buffer> = {
  "index.html": page,
  "favicon.svg": "<svg/>",
  ".hidden": "hidden",
  "assets/app-0a1b2c3d.js": script,
  "assets/app-0a1b2c3d.js.br": brotliCompressSync(script),
  "assets/app-0a1b2c3d.js.gz": gzipSync(script),
};
for (const [name, content] of Object.entries(files)) {
  await writeFile(join(folder, name), content);
}
afterAll(() => rm(folder, { recursive: true }));

const asset = "/console/assets/app-0a1b2c3d.js";

describe("with a built console", () => {
  const publicUrl = "https://desk.example.com";
  const env = { TIDINGS_ALLOWED_HOSTS: "desk.lan", TIDINGS_PUBLIC_URL: publicUrl };
  const app = useTestApp({ consoleFolder: pathToFileURL(`${folder}/`), env });

  /** Sends no headers of its own, follows no redirect and decompresses nothing. */
  const ask = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const {
      statusCode: status,
      headers: sent,
      body,
    } = await request(app.address + path, { method, headers });
    const bytes = Buffer.from(await body.arrayBuffer());
    return { status, headers: sent, bytes, text: bytes.toString() };
  };
  const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

  test("the address of the service leads to it", async () => {
    for (const path of ["/", "/console"]) {
      const { status, headers } = await ask(path);
      expect([status, headers.location]).toEqual([302, "/console/"]);
    }
  });

  test.each([
    "/console/",
    "/console/index.html",
    "/console/inbox/cnv_1",
    "/console/login",
    "/console/session",
  ])("%s is the page", async (path) => {
    const { status, headers, text } = await ask(path, html);
    expect([status, text]).toEqual([200, page]);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
    });
  });

  test("every file has the headers that keep foreign script and frames away", async () => {
    for (const path of ["/console/", asset, "/console/favicon.svg"]) {
      expect((await ask(path, html)).headers).toMatchObject({
        "content-security-policy":
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types tidings",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": expect.stringContaining("camera=(), "),
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      });
    }
  });

  test("a file whose name has a hash is kept for a year, another is checked each time", async () => {
    const { headers } = await ask(asset);
    expect(headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
    });
    const { etag = "" } = (await ask("/console/favicon.svg")).headers;
    const again = await ask("/console/favicon.svg", { "if-none-match": String(etag) });
    expect([again.status, again.text]).toEqual([304, ""]);
    expect((await ask("/console/", { ...html, "if-none-match": String(etag) })).status).toBe(200);
  });

  test("the ETag follows the content, also if size and time stay", async () => {
    const before = (await ask("/console/favicon.svg")).headers.etag;
    await writeFile(join(folder, "favicon.svg"), "<SVG/>");
    expect((await ask("/console/favicon.svg")).headers.etag).not.toBe(before);
  });

  test.each([
    ["br, gzip", "br", brotliDecompressSync],
    ["gzip, br;q=0", "gzip", gunzipSync],
    ["identity", undefined, (bytes: Buffer) => bytes],
  ])("who accepts %s gets %s", async (accepted, encoding, decode) => {
    const { headers, bytes } = await ask(asset, { "accept-encoding": accepted });
    expect(headers["content-encoding"]).toBe(encoding);
    expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(decode(bytes).toString()).toBe(script);
  });

  test("HEAD is answered without the content", async () => {
    const { status, headers, text } = await ask(asset, {}, "HEAD");
    expect([status, headers["content-length"], text]).toEqual([200, String(script.length), ""]);
  });

  test.each([
    ["/console/assets/app-ffffffff.js", {}],
    ["/console/assets/", {}],
    ["/console/inbox/cnv_1", { accept: "application/json" }],
    ["/console/inbox/cnv_1", {}],
    ["/console/.hidden", {}],
    ["/console/..%2f..%2fpackage.json", {}],
    ["/console/%2e%2e/package.json", {}],
    ["/consoles", html],
    ["/unknown", html],
  ])("%s is not found with %o", async (path, headers) => {
    const { status, text } = await ask(path, headers);
    expect([status, JSON.parse(text)]).toMatchObject([404, { error: { code: "route_not_found" } }]);
  });

  test.each(["/", "/console", "/console/", "/console/inbox"])(
    "a browser gets a page that says why %s is refused at another host",
    async (path) => {
      const { status, headers, text } = await ask(path, { ...html, host: "proxy.example" });
      expect([status, headers["content-type"]]).toEqual([403, "text/html; charset=utf-8"]);
      expect(text).toContain("add the host to TIDINGS_ALLOWED_HOSTS");
    },
  );

  test("no other method is answered", async () => {
    const { status, text } = await ask("/console/inbox", html, "POST");
    expect([status, JSON.parse(text)]).toMatchObject([404, { error: { code: "route_not_found" } }]);
  });

  test.each(["/", "/console", "/console/", "/%63onsole/", asset])(
    "%s is refused at a host that is not the service's own",
    async (path) => {
      for (const host of [
        "evil.example",
        "evil.example:3000",
        "127.0.0.1.evil.example",
        "user@localhost",
        "",
      ]) {
        const { status, text } = await ask(path, { host });
        expect([host, status, JSON.parse(text).error.code]).toEqual([host, 403, "host_not_allowed"]);
      }
      for (const host of ["localhost:3000", "[::1]:3000", "DESK.lan", "desk.example.com"]) {
        expect([host, (await ask(path, { host })).status < 400]).toEqual([host, true]);
      }
    },
  );
});

describe("without a built console", () => {
  const app = useTestApp();

  test("the address of the service leads to the documentation", async () => {
    const answer = await app.fetch("/", { redirect: "manual", key: null });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/docs/"]);
  });

  test.each(["/console", "/console/", "/console/inbox"])("%s is not found", async (path) => {
    const answer = await app.fetch(path, { key: null, headers: { accept: "text/html" } });
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain(`There is no route GET ${path}.`);
  });
});
