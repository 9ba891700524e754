/** Files: upload, address, download and deletion. */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { GraphError, invalidParameter, unknownObject } from "../contract/graph-error.ts";
import { kindOf, maxMediaBytes, mediaRules } from "../contract/media-types.ts";
import { type Answer, json } from "../http/answer.ts";
import { findNode, type Media, newNodeId, type Phone } from "../state/store.ts";
import type { World } from "../world.ts";
import { describe, selectFields } from "./describe.ts";
import type { GraphRequest } from "./request.ts";

const dayMs = 24 * 3_600_000;
/** Uploads are kept longer than files that customers sent. */
const keptDays = { upload: 30, inbound: 7 };

export async function uploadMedia(request: GraphRequest<Phone>): Promise<Answer> {
  const form = await readForm(request);
  if (form.get("messaging_product") !== "whatsapp") {
    throw invalidParameter("The parameter messaging_product is required.");
  }
  const file = form.get("file");
  if (file === null || typeof file === "string") {
    throw invalidParameter("The parameter file is required.");
  }
  const declared = form.get("type");
  const mimeType = typeof declared === "string" && declared.includes("/") ? declared : file.type;
  const kind = kindOf(mimeType);
  if (kind === undefined) {
    throw invalidParameter(`Param file must be a file with one of the supported types, not ${mimeType}.`);
  }
  if (file.size > mediaRules[kind].maxBytes) {
    throw new GraphError(131053, `The file is larger than ${mediaRules[kind].maxBytes} bytes`);
  }
  const bytes = Buffer.from(await file.arrayBuffer());
  const media = storeMedia(request.world, {
    phone_id: request.node.id,
    bytes,
    mime_type: mimeType,
    file_name: file.name,
    origin: "upload",
  });
  return json({ id: media.id });
}

async function readForm({ headers, readBytes }: GraphRequest<Phone>): Promise<FormData> {
  const type = headers["content-type"] ?? "";
  const body = await readBytes();
  try {
    return await new Response(body, { headers: { "content-type": type } }).formData();
  } catch (cause) {
    throw new GraphError(100, "Send the file as multipart/form-data", { title: `Invalid body: ${cause}` });
  }
}

interface NewMedia {
  readonly phone_id: string;
  readonly bytes: Buffer;
  readonly mime_type: string;
  readonly file_name: string | null;
  readonly origin: keyof typeof keptDays;
}

export function storeMedia({ store, clock }: World, { origin, ...file }: NewMedia): Media {
  const media: Media = {
    kind: "media",
    id: newNodeId(store),
    ...file,
    sha256: createHash("sha256").update(file.bytes).digest("base64"),
    expires_at: clock.now() + keptDays[origin] * dayMs,
  };
  store.nodes.set(media.id, media);
  return media;
}

/** An address that is valid for 5 minutes; a new request gives a new one. */
export function getMedia({ world, node: media, query }: GraphRequest<Media>): Answer {
  requirePresent(world, media, { method: "GET", query });
  return json(selectFields(describe(world, media), query));
}

export function deleteMedia({ world, node: media, query }: GraphRequest<Media>): Answer {
  requirePresent(world, media, { method: "DELETE", query });
  world.store.nodes.delete(media.id);
  return json({ success: true });
}

interface Access {
  readonly method: string;
  readonly query: URLSearchParams;
}

function requirePresent({ clock }: World, media: Media, { method, query }: Access): void {
  const phoneId = query.get("phone_number_id") ?? media.phone_id;
  if (media.expires_at <= clock.now() || phoneId !== media.phone_id) {
    throw unknownObject(method, media.id);
  }
}

/** The bytes. The caller has checked the token. */
export function downloadMedia(
  { store, clock }: World,
  query: URLSearchParams,
  headers: IncomingHttpHeaders,
): Answer {
  const media = findNode(store, "media", query.get("mid") ?? "");
  const isValid = media && Number(query.get("ext")) > clock.now() && media.expires_at > clock.now();
  if (!isValid) {
    return { status: 404, body: Buffer.from("Not found"), headers: { "content-type": "text/plain" } };
  }
  const type = { "content-type": media.mime_type, "accept-ranges": "bytes" };
  const range = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "");
  const from = Number(range?.[1] ?? 0);
  if (!range || from >= media.bytes.length) {
    return { status: 200, body: media.bytes, headers: type };
  }
  const to = range[2] ? Math.min(Number(range[2]), media.bytes.length - 1) : media.bytes.length - 1;
  const contentRange = { "content-range": `bytes ${from}-${to}/${media.bytes.length}` };
  return { status: 206, body: media.bytes.subarray(from, to + 1), headers: { ...type, ...contentRange } };
}

/** A form has some bytes more than its file. */
export const maxUploadBytes = maxMediaBytes + 64 * 1024;
