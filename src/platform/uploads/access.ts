/** Who may use an upload: the credential that created it, and those that handle such files for the organization. */
import type { ExpressionBuilder } from "kysely";
import type { Scope } from "../../../tools/contract/index.ts";
import type { Queries } from "../../database/database.ts";
import type { Tables } from "../../database/schema/index.ts";
import { type Caller, requireScope } from "../kernel/index.ts";
import { getUpload } from "./find.ts";

const csv = "text/csv";

/** The scope for the uploads of others: a table is a list of contacts, any other file goes into messages. */
function scopeOf(contentType: string): Scope {
  return contentType === csv ? "contacts:write" : "inbox:write";
}

/** @throws Failure `upload_not_found`, also for another tenant's id; `insufficient_scope`. */
export async function getAccessibleUpload(db: Queries, caller: Caller, id: string, param: string) {
  const upload = await getUpload(db, caller.organization_id, id, param);
  if (upload.credential_id !== caller.credential.id) {
    requireScope(caller, scopeOf(upload.content_type));
  }
  return upload;
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
