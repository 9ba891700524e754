/**
 * Serves the console under /console/: the files that its build made, and index.html for the addresses that
 * the page itself reads. Files are read at each request, so nothing is loaded before the first one.
 */
import { createHash } from "node:crypto";
import { access, readFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { extname } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { fail } from "../../../tools/errors.ts";
import { isHeld } from "../document.ts";
import { acceptsEncoding } from "../encodings.ts";
import { sendErrorPage } from "./error-page.ts";

/**
 * The page loads nothing of another origin, and no other page may frame it. Text of customers can't become
 * script: the page makes elements, and assigns markup only through its own policy of trusted types.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types tidings",
].join("; ");

const features = [
  "camera",
  "display-capture",
  "geolocation",
  "hid",
  "microphone",
  "payment",
  "serial",
  "usb",
];

const securityHeaders = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": features.map((feature) => `${feature}=()`).join(", "),
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const index = "index.html";

export async function isConsoleBuilt(folder: URL): Promise<boolean> {
  return access(new URL(index, folder)).then(
    () => true,
    () => false,
  );
}

export function addConsole(app: FastifyInstance, folder: URL): void {
  const options = {
    config: { isRateLimited: false, isForOwnPages: true },
    exposeHeadRoute: true,
    errorHandler: sendErrorPage,
  };
  app.get("/console", options, async (request, reply) => {
    if (!(await isConsoleBuilt(folder))) {
      throw failNotFound(request);
    }
    return reply.redirect("/console/");
  });
  app.get<{ Params: { "*": string } }>("/console/*", options, async (request, reply) => {
    const path = request.params["*"];
    const isView = !path.startsWith(assetsFolder) && request.headers.accept?.includes("text/html");
    const file =
      (await findFile(folder, path === "" ? index : path, request.headers)) ??
      (isView ? await findFile(folder, index, request.headers) : undefined);
    if (!file) {
      throw failNotFound(request);
    }
    return sendFile(request, reply, file);
  });
}

function failNotFound({ method, url }: FastifyRequest) {
  return fail("route_not_found", { method, path: url.split("?")[0] });
}

interface ConsoleFile {
  /** Relative to the folder. */
  readonly name: string;
  readonly content: Buffer;
  readonly encoding: string | undefined;
}

/** The names of these files contain a hash of their content. */
const assetsFolder = "assets/";

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, content, encoding }: ConsoleFile,
): FastifyReply {
  // Not of size and time, which packages and images set to the same values for every version.
  const etag = `"${createHash("sha256").update(content).digest("base64url")}"`;
  reply.headers({
    ...securityHeaders,
    "cache-control": name.startsWith(assetsFolder) ? "public, max-age=31536000, immutable" : "no-cache",
    etag,
    vary: "accept-encoding",
  });
  if (isHeld(request.headers["if-none-match"], etag)) {
    return reply.status(304).send();
  }
  if (encoding !== undefined) {
    reply.header("content-encoding", encoding);
  }
  return reply.type(types[extname(name)] ?? "application/octet-stream").send(content);
}

/** The build makes both beside each file; the first that the client accepts is sent. */
const compressedForms = [
  { encoding: "br", suffix: ".br" },
  { encoding: "gzip", suffix: ".gz" },
];

/** Names without hidden files, empty parts and parents. */
const plainName = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/;

async function findFile(
  folder: URL,
  name: string,
  { "accept-encoding": accepted }: IncomingHttpHeaders,
): Promise<ConsoleFile | undefined> {
  if (!plainName.test(name)) {
    return undefined;
  }
  for (const { encoding, suffix } of compressedForms.filter((form) =>
    acceptsEncoding(accepted, form.encoding),
  )) {
    const content = await readIfExists(new URL(name + suffix, folder));
    if (content) {
      return { name, content, encoding };
    }
  }
  const content = await readIfExists(new URL(name, folder));
  return content && { name, content, encoding: undefined };
}

async function readIfExists(file: URL): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (["ENOENT", "EISDIR", "ENOTDIR", "ENAMETOOLONG"].includes(code)) {
      return undefined;
    }
    throw error;
  }
}
