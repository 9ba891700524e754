/**
 * Receives files from a form, from base64 or from a URL.
 *
 * A row is inserted before the first byte is stored, so that files of a killed process can be found and
 * deleted. It becomes an upload in the transaction that records the response.
 */
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { fail, failField } from "../../../../tools/errors.ts";
import { maxUploadBytes } from "../../../../tools/uploads.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { FileMetadata } from "../../../ports/files/storage.ts";
import type { IncomingFile } from "../../../ports/transport/form.ts";
import type { Download } from "../../../ports/web.ts";
import { failQuota, limitOf, lockOrganization } from "../../account/organization/index.ts";
import { freshId, type Transaction, type World } from "../../foundation/kernel/index.ts";
import { contentDisposition, sanitizeFileName } from "./file-name.ts";
import { inspectFile } from "./inspect.ts";
import { extensionOfType, type FileKind, kindOfName, knownExtensions, matchesDeclaredType } from "./kinds.ts";

/** Less than the 25 s that a model waits for a response. */
const fetchTimeoutMs = 20_000;

/** A file that is in the store but not an upload yet. */
export interface ReceivedFile {
  readonly organization_id: string;
  readonly id: string;
  readonly key: string;
  readonly file_name: string;
  readonly file_size: number;
  readonly content_type: string;
  readonly sha256: string;
}

export interface UploadOwner {
  readonly world: World;
  readonly organization: string;
  /** The key or the user that owns the upload; null if the credential is unknown. */
  readonly credential_id: string | null;
}

/** Writes a file to the store. @throws Failure if the file is not allowed; the file is then deleted. */
export async function receiveFile(
  { world, organization, credential_id }: UploadOwner,
  file: IncomingFile,
): Promise<ReceivedFile> {
  const { file_name, kind } = identifyFile(file);
  // Checked before the file is received. `commitUpload` checks again with the file's size.
  await requireSpace(world.database.queries, { world, organization }, 1);
  const now = world.now();
  const pending = {
    organization_id: organization,
    id: freshId({ now }, "upl"),
    key: `${organization}/${randomBytes(24).toString("base64url")}`,
    file_name,
    content_type: kind.type,
  };
  const row = { ...pending, credential_id, is_public: false, created_at: now.toISOString() };
  await world.database.queries.insertInto("uploads").values(row).execute();
  const inspection = inspectFile(kind);
  try {
    await world.storage.write(pending.key, inspection.pass(file.body), storedHeaders(pending));
  } catch (error) {
    await discardFile(world, pending);
    throw error;
  }
  const { size: file_size, sha256 } = inspection.facts();
  return { ...pending, file_size, sha256 };
}

/** With what headers a store serves the file. */
export function storedHeaders({ content_type, file_name }: UploadName): FileMetadata {
  const type = isShownInline(content_type) ? "inline" : "attachment";
  return { contentType: content_type, disposition: contentDisposition(type, file_name) };
}

interface UploadName {
  readonly content_type: string;
  readonly file_name: string;
}

/** Whether a browser may display the file; other files are downloaded. */
export function isShownInline(type: string): boolean {
  return /^(?:image|video|audio)\//.test(type);
}

/**
 * Turns a received file into an upload.
 * @throws Failure `unavailable` if receiving took so long that the file was deleted, `quota_exceeded`.
 */
export async function commitUpload(
  { tx, world }: { readonly tx: Transaction; readonly world: World },
  received: ReceivedFile,
  isPublic: boolean,
) {
  const { organization_id, file_size, sha256 } = received;
  await lockOrganization(tx, organization_id);
  await requireSpace(tx, { world, organization: organization_id }, file_size);
  const row = await ofOrganization(tx, received.organization_id)
    .updateTable("uploads")
    .set({ status: "kept", is_public: isPublic, file_size, sha256 })
    .where("id", "=", received.id)
    .returningAll()
    .executeTakeFirst();
  if (!row) {
    throw fail("unavailable", { reason: "the file took too long to arrive." });
  }
  return row;
}

/** @throws Failure `quota_exceeded` unless the organization may store this many bytes more. */
async function requireSpace(
  db: Queries,
  { world, organization }: Pick<UploadOwner, "world" | "organization">,
  additional: number,
): Promise<void> {
  const { limits, stored } = await db
    .selectFrom("organizations")
    .select(["limits", storedBytes(organization).as("stored")])
    .where("id", "=", organization)
    .executeTakeFirstOrThrow();
  if (Number(stored) + additional > limitOf(world, limits, "stored_mb") * 1_000_000) {
    throw failQuota(world, limits, "stored_mb");
  }
}

function storedBytes(organization: string) {
  return sql<number>`(
    select coalesce(sum(file_size), 0) from uploads where organization_id = ${organization} and status = 'kept'
  )`;
}

/** Deletes a file that did not become an upload. */
export async function discardFile(
  world: World,
  { organization_id, id, key }: Pick<ReceivedFile, "organization_id" | "id" | "key">,
): Promise<void> {
  const row = await ofOrganization(world.database.queries, organization_id)
    .selectFrom("uploads")
    .select("status")
    .where("id", "=", id)
    .executeTakeFirst();
  if (row?.status === "kept") {
    // The commit succeeded, but its confirmation was lost.
    return;
  }
  await world.storage.delete(key);
  await ofOrganization(world.database.queries, organization_id)
    .deleteFrom("uploads")
    .where("id", "=", id)
    .where("status", "=", "arriving")
    .execute();
}

/**
 * Fetches a file from a customer's URL.
 * @throws Failure `url_not_allowed`, `source_failed`, and the errors of `receiveFile`.
 */
export async function fetchFile(
  owner: UploadOwner,
  {
    url,
    file_name: name,
    content_type: type,
    defaultExtension,
    timeoutMs = fetchTimeoutMs,
    signal,
  }: FileSource,
): Promise<ReceivedFile> {
  const request = {
    method: "GET" as const,
    url,
    timeoutMs,
    maxBytes: maxUploadBytes,
    ...(signal ? { signal } : {}),
  };
  const download = await owner.world.web.download(request, async ({ status, headers, body }) => {
    if (status !== 200) {
      const isRedirect = status >= 300 && status < 400;
      const answer = isRedirect ? "a redirect, which is not followed; send the final URL" : String(status);
      throw fail("source_failed", { reason: `its URL answers with ${answer}.`, param: "url" });
    }
    const declared = type ?? headers["content-type"];
    return receiveFile(owner, {
      name: name ?? fileNameFromUrl(url, declared, defaultExtension),
      type: declared,
      body,
    });
  });
  return unwrapDownload(download);
}

interface FileSource {
  readonly url: string;
  readonly file_name?: string | undefined;
  readonly content_type?: string | undefined;
  /** Used when neither the name nor the type implies one. */
  readonly defaultExtension?: string;
  /** The limit for the whole download. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

function unwrapDownload(download: Download<ReceivedFile>): ReceivedFile {
  if (download.outcome === "answered") {
    return download.value;
  }
  if (download.outcome === "forbidden") {
    throw failField("url", "url_not_allowed", { reason: download.detail });
  }
  throw download.reason === "too_large"
    ? fail("file_too_large", { limit: maxUploadBytes, param: "url" })
    : fail("source_failed", { reason: download.detail, param: "url" });
}

/** The last segment of the URL's path. If it has no extension, the extension follows from the type. */
function fileNameFromUrl(
  url: string,
  declared: string | undefined,
  defaultExtension: string | undefined,
): string {
  const last = sanitizeFileName(decode(new URL(url).pathname)) || "file";
  const extension = extensionOfType(declared) ?? defaultExtension;
  return kindOfName(last) || extension === undefined ? last : `${last}.${extension}`;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** @throws Failure for a name without a known extension, or a declared type that contradicts it. */
function identifyFile({ name = "", type }: IncomingFile): { file_name: string; kind: FileKind } {
  const file_name = sanitizeFileName(name);
  if (file_name === "") {
    throw failField("file_name", "file_name_needed");
  }
  const kind = kindOfName(file_name);
  if (!kind) {
    throw fail("file_type_not_allowed", { value: file_name, known: knownExtensions, param: "file" });
  }
  if (!matchesDeclaredType(kind, type)) {
    const reason = `by its name it is ${kind.type}, but its declared type is ${type?.slice(0, 100)}.`;
    throw fail("file_type_mismatch", { reason, param: "content_type" });
  }
  return { file_name, kind };
}
