/** Serves files by signed or public link, with headers that prevent a browser from executing them. */
import { z } from "zod";
import type { ModuleRoute } from "../../foundation/kernel/index.ts";
import { openFile } from "./open.ts";

export const fileRoute: ModuleRoute = {
  methods: ["GET", "HEAD"],
  path: "/files/{organization}/{name}",
  credential: "none",
  body: "none",
  // A channel fetches all its files from a few addresses; a forged link is rejected without a query.
  isRateLimited: false,
  about: {
    name: "download_file",
    tag: "uploads",
    title: "Download file",
    description:
      "Download a file by its link, which expires: send the address as the service returned it. The Content-Type is the file's own. Ranges of bytes and HEAD are supported.",
    query: z.object({
      expires: z.string().optional().describe("From the link"),
      signature: z.string().optional().describe("From the link"),
    }),
    response: { status: 200, body: "application/octet-stream" },
  },

  async handle({ params, query, headers, isHead }, world) {
    const { organization = "", name = "" } = params;
    const file = await openFile(world, {
      organization,
      name,
      expires: textOf(query.expires),
      signature: textOf(query.signature),
      range: headers.range,
      isHead,
    });
    const { start, end } = file.range ?? { start: 0, end: file.size - 1 };
    return {
      status: file.range ? 206 : 200,
      headers: {
        "content-type": file.type,
        "content-length": end - start + 1,
        "content-disposition": file.disposition,
        "cache-control": file.cacheControl,
        "accept-ranges": "bytes",
        ...(file.range ? { "content-range": `bytes ${start}-${end}/${file.size}` } : {}),
        etag: `"${file.sha256}"`,
        // Disables content sniffing, and scripts in case the file is a page after all.
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; media-src 'self'",
        "cross-origin-resource-policy": "cross-origin",
        "referrer-policy": "no-referrer",
      },
      body: file.body,
    };
  },
};

/**
 * Returns undefined for a missing parameter. A repeated parameter becomes a text that matches no signature.
 */
function textOf(value: string | readonly string[] | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
