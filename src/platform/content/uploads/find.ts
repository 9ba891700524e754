/** Finds an upload by its id or by a link to its file. */
import type { Selectable } from "kysely";
import { fail, failField } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { ChannelFile } from "../../../ports/channel/message-content.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { fileKeyFromUrl } from "./links.ts";

export type UploadRow = Selectable<Tables["uploads"]>;

/** @throws Failure `upload_not_found`, also for another tenant's id. */
export async function getUpload(db: Queries, organization: string, id: string, param = "upload_id") {
  const upload = await findUpload(db, organization, id);
  if (!upload) {
    throw fail("upload_not_found", { param });
  }
  return upload;
}

export async function findUpload(db: Queries, organization: string, id: string) {
  return selectUploads(db, organization).where("id", "=", id).executeTakeFirst();
}

/**
 * The upload that a link to one of our files refers to, even if the link has expired. Undefined for any other
 * URL.
 * @throws Failure `upload_not_found` if the file is no upload of the organization.
 */
export async function findUploadAt(db: Queries, organization: string, url: string, field = "media_url") {
  const file = fileKeyFromUrl(url);
  if (!file) {
    return undefined;
  }
  const upload =
    file.organization === organization ? await findUploadByKey(db, organization, file.key) : undefined;
  if (!upload) {
    throw failField(field, "upload_not_found");
  }
  return upload;
}

export async function findUploadByKey(db: Queries, organization: string, key: string) {
  return selectUploads(db, organization).where("key", "=", key).executeTakeFirst();
}

/** The organization's complete files. */
export function selectUploads(db: Queries, organization: string) {
  return ofOrganization(db, organization).selectFrom("uploads").selectAll().where("status", "=", "kept");
}

/** A file for a channel that takes files. It has no content if the upload has been deleted. */
export async function findChannelFile(world: World, organization: string, key: string): Promise<ChannelFile> {
  const upload = await findUploadByKey(world.database.queries, organization, key);
  return {
    key,
    content_type: upload?.content_type ?? "",
    size: upload?.file_size ?? 0,
    read: async () => (upload ? world.storage.read(key) : undefined),
  };
}
