/** Finds an upload of the organization, by its id or by an address of its file. */
import { fail, failField } from "../../../tools/errors.ts";
import type { Queries } from "../../database/database.ts";
import { keyIn } from "./links.ts";

/** @throws Failure `upload_not_found`, for a neighbour's too. */
export async function getUpload(db: Queries, organization: string, id: string, param = "upload_id") {
  const upload = await kept(db, organization).where("id", "=", id).executeTakeFirst();
  if (!upload) {
    throw fail("upload_not_found", { param });
  }
  return upload;
}

/**
 * The upload that an address leads to, whether or not the link is still good; undefined for an address
 * elsewhere. @throws Failure `upload_not_found` for one that is none of the organization's.
 */
export async function findUploadAt(db: Queries, organization: string, url: string) {
  const address = keyIn(url);
  if (!address) {
    return undefined;
  }
  const upload =
    address.organization === organization
      ? await kept(db, organization).where("key", "=", address.key).executeTakeFirst()
      : undefined;
  if (!upload) {
    throw failField("media_url", "upload_not_found");
  }
  return upload;
}

/** The organization's files that are whole. */
export function kept(db: Queries, organization: string) {
  return db
    .selectFrom("uploads")
    .selectAll()
    .where("organization_id", "=", organization)
    .where("status", "=", "kept");
}
