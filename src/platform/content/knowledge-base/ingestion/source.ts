/** Reads the source of a document: its content, an upload, or an address on the web. */
import type { ingestionFailures } from "../../../../../tools/knowledge-base/index.ts";
import { maxUploadBytes } from "../../../../../tools/uploads.ts";
import type { DocumentFile, DocumentFormat } from "../../../../ports/files/document-reader.ts";
import type { IncomingResponse } from "../../../../ports/web.ts";
import type { World } from "../../../foundation/kernel/index.ts";
import { findUpload } from "../../uploads/index.ts";

export type IngestionFailure = (typeof ingestionFailures)[number];

/** The document can't be ingested. The message is for the user. */
export class IngestionError extends Error {
  override readonly name = "IngestionError";
  readonly reason: IngestionFailure;

  constructor(reason: IngestionFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}

export type SourceType = "pdf" | "markdown" | "url";

export interface DocumentSource {
  readonly organization_id: string;
  readonly source_type: SourceType;
  readonly source_url: string | null;
  readonly upload_id: string | null;
  readonly content: string | null;
}

/** The limit for each address. Longer than for uploads, because no caller waits. */
const fetchTimeoutMs = 60_000;

/** More redirects than any site needs. */
const maxRedirects = 5;

/** @throws IngestionError */
export async function readSource(source: DocumentSource, world: World): Promise<DocumentFile> {
  if (source.content !== null) {
    return { format: "markdown", bytes: new TextEncoder().encode(source.content) };
  }
  if (source.upload_id !== null) {
    return readUpload(source, source.upload_id, world);
  }
  if (source.source_url !== null) {
    return fetchDocument(source.source_type, source.source_url, world);
  }
  throw new IngestionError("no_content", "It has no content. Update it with content or source_url.");
}

async function readUpload({ organization_id }: DocumentSource, id: string, world: World) {
  const upload = await findUpload(world.database.queries, organization_id, id);
  const body = upload && (await world.storage.read(upload.key));
  if (!body) {
    throw new IngestionError("upload_not_found", "Its upload was deleted. Update it with another source.");
  }
  const format: DocumentFormat = upload.content_type === "application/pdf" ? "pdf" : "markdown";
  return { format, bytes: await collect(body) };
}

type FetchedSource = DocumentFile | { readonly location: string };

/** Follows redirects itself, so that each address is checked like the first address. */
async function fetchDocument(type: SourceType, address: string, world: World): Promise<DocumentFile> {
  let url = address;
  const visited = new Set<string>();
  while (!visited.has(url) && visited.size <= maxRedirects) {
    visited.add(url);
    const fetched = await fetchOne(type, url, world);
    if ("format" in fetched) {
      return fetched;
    }
    if (!URL.canParse(fetched.location, url)) {
      throw new IngestionError("source_failed", "The address leads to one that is not valid.");
    }
    url = new URL(fetched.location, url).href;
  }
  const message = `The address leads to others in a circle, or through more than ${maxRedirects}. Use the final address.`;
  throw new IngestionError("too_many_redirects", message);
}

async function fetchOne(type: SourceType, url: string, world: World): Promise<FetchedSource> {
  const download = await world.web.download(
    {
      method: "GET",
      url,
      headers: { accept: accepted[type] },
      timeoutMs: fetchTimeoutMs,
      maxBytes: maxUploadBytes,
      signal: world.stopping,
    },
    (response) => readResponse(type, response),
  );
  if (download.outcome === "answered") {
    return download.value;
  }
  if (download.outcome === "forbidden") {
    throw new IngestionError("source_not_allowed", `The address is not allowed: ${download.detail}`);
  }
  // The service stops, and the job will run again.
  world.stopping.throwIfAborted();
  throw download.reason === "too_large"
    ? new IngestionError("file_too_large", `The file is larger than ${maxUploadBytes} bytes.`)
    : new IngestionError("source_failed", `The address can't be read: ${download.detail}`);
}

/** @throws IngestionError */
async function readResponse(
  type: SourceType,
  { status, headers, body }: IncomingResponse,
): Promise<FetchedSource> {
  if ([301, 302, 303, 307, 308].includes(status)) {
    return { location: headers.location ?? "" };
  }
  if (status !== 200) {
    throw new IngestionError("source_failed", `The address answers with ${status}.`);
  }
  const declared = headers["content-type"] ?? "";
  const contentType = declared.split(";")[0]?.trim().toLowerCase() ?? "";
  const format = formats[type][contentType];
  if (format === undefined) {
    const message = `The address leads to ${contentType.slice(0, 100)}, and a document of type ${type} is ${expected[type]}.`;
    throw new IngestionError("wrong_type", message);
  }
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(declared)?.[1];
  return { format, bytes: await collect(body), charset: format === "pdf" ? undefined : charset };
}

const accepted: Readonly<Record<SourceType, string>> = {
  pdf: "application/pdf",
  markdown: "text/markdown, text/plain",
  url: "text/html, application/xhtml+xml, text/markdown, text/plain, application/pdf",
};

const expected: Readonly<Record<SourceType, string>> = {
  pdf: "a PDF file",
  markdown: "Markdown or plain text; use the type url for a web page",
  url: "a web page, a text or a PDF file",
};

const text = {
  "text/markdown": "markdown",
  "text/x-markdown": "markdown",
  "text/plain": "markdown",
} as const;
const unknown = ["", "application/octet-stream", "binary/octet-stream"];
const any = (format: DocumentFormat) => Object.fromEntries(unknown.map((type) => [type, format]));

/**
 * The formats that each type accepts, by the declared media type. A file that can't be read in this format
 * fails later.
 */
const formats: Readonly<Record<SourceType, Readonly<Record<string, DocumentFormat>>>> = {
  pdf: { ...any("pdf"), "application/pdf": "pdf", "application/x-pdf": "pdf" },
  markdown: { ...any("markdown"), ...text },
  url: {
    ...text,
    "": "html",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
  },
};

/** Collects the body of a download or an upload, which both have a size limit. */
async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) {
    pieces.push(piece);
  }
  const bytes = new Uint8Array(pieces.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
