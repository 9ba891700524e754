/**
 * Who may use an upload: the credential that created it, and credentials that handle such files for the
 * organization.
 */
import type { ExpressionBuilder } from "kysely";
import type { Scope } from "../../../../tools/contract/index.ts";
import type { Queries } from "../../../database/database.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { type Caller, requireScope } from "../../foundation/kernel/index.ts";
import { findUploadAt, getUpload, type UploadRow } from "./find.ts";

const csv = "text/csv";

/**
 * The scope for uploads of other credentials: a table is a list of contacts, and any other file is for
 * messages.
 */
function scopeOf(contentType: string): Scope {
  return contentType === csv ? "contacts:write" : "inbox:write";
}

/** @throws Failure `upload_not_found`, also for another tenant's id; `insufficient_scope`. */
export async function getAccessibleUpload(db: Queries, caller: Caller, id: string, param: string) {
  const upload = await getUpload(db, caller.organization_id, id, param);
  requireAccess(caller, upload);
  return upload;
}

/**
 * The upload that a link to one of our files refers to, without downloading the file. Undefined for any other
 * URL, and without one.
 * @throws Failure `upload_not_found`, also for another tenant's file; `insufficient_scope`.
 */
export async function getAccessibleUploadAt(
  db: Queries,
  caller: Caller,
  url: string | undefined,
  param: string,
): Promise<UploadRow | undefined> {
  const upload = url === undefined ? undefined : await findUploadAt(db, caller.organization_id, url, param);
  if (upload) {
    requireAccess(caller, upload);
  }
  return upload;
}

function requireAccess(caller: Caller, { credential_id, content_type }: UploadRow): void {
  if (credential_id !== caller.credential.id) {
    requireScope(caller, scopeOf(content_type));
  }
}

/** The condition for the rows that `getAccessibleUpload` returns. */
export function isAccessible({ credential, scopes }: Caller) {
  return (row: ExpressionBuilder<Tables, "uploads">) =>
    row.or([
      row("credential_id", "=", credential.id),
      ...(scopes.has(scopeOf(csv)) ? [row("content_type", "=", csv)] : []),
      ...(scopes.has(scopeOf("")) ? [row("content_type", "!=", csv)] : []),
    ]);
}
