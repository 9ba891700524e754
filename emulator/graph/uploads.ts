/** Resumable uploads, whose handles are samples for the headers of templates. */
import { randomBytes } from "node:crypto";
import { invalidParameter, unknownObject } from "../contract/graph-error.ts";
import { type Answer, json } from "../http/answer.ts";
import type { App, Upload } from "../state/store.ts";
import type { World } from "../world.ts";
import type { GraphRequest } from "./request.ts";

/** The parameters are in the query or in a JSON body. */
export async function startUpload(request: GraphRequest<App>): Promise<Answer> {
  const { query, headers, world, node: app } = request;
  const body = headers["content-type"]?.includes("json") ? await request.readJson() : {};
  const read = (name: string) => String(query.get(name) ?? body[name] ?? "");
  const length = Number(read("file_length"));
  if (!Number.isInteger(length) || length < 1) {
    throw invalidParameter("The parameter file_length is required.");
  }
  if (read("file_type") === "") {
    throw invalidParameter("The parameter file_type is required.");
  }
  const id = `upload:${randomBytes(24).toString("base64url")}`;
  const upload = { id, app_id: app.id, file_length: length, file_type: read("file_type") };
  world.store.uploads.set(id, { ...upload, bytes: Buffer.alloc(0), handle: null });
  return json({ id });
}

/** Takes the bytes from an offset, which must be where the last request ended. */
export async function continueUpload(request: GraphRequest<Upload>): Promise<Answer> {
  const { world, node: upload, headers } = request;
  const offset = Number(headers.file_offset ?? 0);
  if (offset !== upload.bytes.length) {
    throw invalidParameter(`Param file_offset must be ${upload.bytes.length}.`);
  }
  upload.bytes = Buffer.concat([upload.bytes, await request.readBytes()]);
  if (upload.bytes.length > upload.file_length) {
    throw invalidParameter(`The file has more than the ${upload.file_length} bytes of file_length.`);
  }
  if (upload.bytes.length < upload.file_length) {
    return json(toState(upload));
  }
  upload.handle ??= newHandle(upload);
  world.store.handles.set(upload.handle, upload);
  return json({ h: upload.handle });
}

export function getUpload({ node: upload }: GraphRequest<Upload>): Answer {
  return json(toState(upload));
}

/** @throws GraphError */
export function findUpload({ store }: World, id: string, method: string): Upload {
  const upload = store.uploads.get(id);
  if (!upload) {
    throw unknownObject(method, id);
  }
  return upload;
}

function toState({ id, bytes }: Upload): object {
  return { id, file_offset: bytes.length };
}

function newHandle({ file_type, app_id }: Upload): string {
  const type = Buffer.from(file_type).toString("base64");
  return `4::${type}:${randomBytes(24).toString("base64url")}:e:${app_id}`;
}
