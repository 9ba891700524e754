/**
 * Takes files in: from a form, from base64, from an address.
 *
 * A row is there before the first byte, so that what a killed process left in the store is known and
 * removed. It becomes an upload only in the transaction that answers for it.
 */
import { randomBytes } from "node:crypto";
import { fail, failField } from "../../../tools/errors.ts";
import { maxUploadBytes } from "../../../tools/uploads.ts";
import type { Transaction } from "../../database/database.ts";
import type { Download } from "../../ports/web.ts";
import { freshId, type IncomingFile, type World } from "../kernel/index.ts";
import { inspect } from "./inspect.ts";
import { agrees, endingOfType, type Kind, kindOfName, knownEndings } from "./kinds.ts";
import { disposition, tidyName } from "./name.ts";

/** A model waits 25 s for its answer. */
const fetchTimeoutMs = 20_000;

/** A file that is in the store and that nobody knows of yet. */
export interface Received {
  readonly organization_id: string;
  readonly id: string;
  readonly key: string;
  readonly file_name: string;
  readonly file_size: number;
  readonly content_type: string;
  readonly sha256: string;
}

interface Owner {
  readonly world: World;
  readonly organization: string;
}

/** Puts a file into the store. @throws Failure for one that may not be kept, of which nothing is left. */
export async function receive({ world, organization }: Owner, file: IncomingFile): Promise<Received> {
  const { file_name, kind } = identify(file);
  const now = world.now();
  const arrival = {
    organization_id: organization,
    id: freshId({ now }, "upl"),
    key: `${organization}/${randomBytes(24).toString("base64url")}`,
    file_name,
    content_type: kind.type,
  };
  const row = { ...arrival, is_public: false, created_at: now.toISOString() };
  await world.database.queries.insertInto("uploads").values(row).execute();
  const inspection = inspect(kind);
  try {
    await world.storage.write(arrival.key, inspection.pass(file.body), {
      contentType: kind.type,
      disposition: disposition(isShown(kind.type) ? "inline" : "attachment", file_name),
    });
  } catch (error) {
    await discard(world, arrival);
    throw error;
  }
  const { size: file_size, sha256 } = inspection.facts();
  return { ...arrival, file_size, sha256 };
}

/** What a browser shows in its place; anything else it saves. */
export function isShown(type: string): boolean {
  return /^(?:image|video|audio)\//.test(type);
}

/** Makes a received file an upload. @throws Failure `unavailable` for one that came too late. */
export async function keep(tx: Transaction, received: Received, isPublic: boolean) {
  const { file_size, sha256 } = received;
  const row = await tx
    .updateTable("uploads")
    .set({ status: "kept", is_public: isPublic, file_size, sha256 })
    .where("organization_id", "=", received.organization_id)
    .where("id", "=", received.id)
    .returningAll()
    .executeTakeFirst();
  if (!row) {
    throw fail("unavailable", { reason: "the file took too long to arrive." });
  }
  return row;
}

/** Forgets a file that became no upload. */
export async function discard(
  world: World,
  { organization_id, id, key }: Pick<Received, "organization_id" | "id" | "key">,
): Promise<void> {
  const row = await world.database.queries
    .selectFrom("uploads")
    .select("status")
    .where("organization_id", "=", organization_id)
    .where("id", "=", id)
    .executeTakeFirst();
  if (row?.status === "kept") {
    // The answer to its commit was lost on the way.
    return;
  }
  await world.storage.delete(key);
  await world.database.queries
    .deleteFrom("uploads")
    .where("organization_id", "=", organization_id)
    .where("id", "=", id)
    .where("status", "=", "arriving")
    .execute();
}

/** Fetches a file from a customer's address. @throws Failure `url_not_allowed`, `source_failed`. */
export async function fetchFile(
  owner: Owner,
  { url, file_name: name, content_type: type, ending, timeoutMs = fetchTimeoutMs, signal }: Source,
): Promise<Received> {
  const request = {
    ...{ method: "GET" as const, url, timeoutMs, maxBytes: maxUploadBytes },
    ...(signal ? { signal } : {}),
  };
  const fetched = await owner.world.web.download(request, async ({ status, headers, body }) => {
    if (status !== 200) {
      const isRedirect = status >= 300 && status < 400;
      const what = isRedirect ? "a redirect, which is not followed; send the last address" : String(status);
      throw fail("source_failed", { reason: `its address answers ${what}.`, param: "url" });
    }
    const declared = type ?? headers["content-type"];
    return receive(owner, { name: name ?? nameIn(url, declared, ending), type: declared, body });
  });
  return settle(fetched);
}

interface Source {
  readonly url: string;
  readonly file_name?: string | undefined;
  readonly content_type?: string | undefined;
  /** What it ends with where neither its name nor its type says. */
  readonly ending?: string;
  /** For all of it. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

function settle(fetched: Download<Received>): Received {
  if (fetched.outcome === "answered") {
    return fetched.value;
  }
  if (fetched.outcome === "forbidden") {
    throw failField("url", "url_not_allowed", { reason: fetched.detail });
  }
  throw fetched.reason === "too_large"
    ? fail("file_too_large", { limit: maxUploadBytes, param: "url" })
    : fail("source_failed", { reason: fetched.detail, param: "url" });
}

/** The end of the address's path, with an ending by its type where it has none. */
function nameIn(url: string, declared: string | undefined, otherwise: string | undefined): string {
  const last = tidyName(decode(new URL(url).pathname)) || "file";
  const ending = endingOfType(declared) ?? otherwise;
  return kindOfName(last) || ending === undefined ? last : `${last}.${ending}`;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** @throws Failure for a name without a known ending, or a declaration that contradicts it. */
function identify({ name = "", type }: IncomingFile): { file_name: string; kind: Kind } {
  const file_name = tidyName(name);
  if (file_name === "") {
    throw failField("file_name", "file_name_needed");
  }
  const kind = kindOfName(file_name);
  if (!kind) {
    throw fail("file_type_not_allowed", { value: file_name, known: knownEndings, param: "file" });
  }
  if (!agrees(kind, type)) {
    const reason = `by its name it is ${kind.type}, but it is declared as ${type?.slice(0, 100)}.`;
    throw fail("file_type_mismatch", { reason, param: "content_type" });
  }
  return { file_name, kind };
}
