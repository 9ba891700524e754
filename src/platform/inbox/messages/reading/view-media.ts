/** Shows the file of a message or an upload to a model. */
import type { z } from "zod";
import { failField } from "../../../../../tools/errors.ts";
import type { messages as contract } from "../../../../../tools/messages/index.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { StoredContent } from "../../../../database/schema/index.ts";
import { findMessageFile, type StoredFile, uploadedFile, viewFile } from "../../../content/media/index.ts";
import { getAccessibleUpload } from "../../../content/uploads/index.ts";
import { type ReadContext, requireScope } from "../../../foundation/kernel/index.ts";

type Input = z.output<typeof contract.view_media.input>;

/**
 * @throws Failure `message_not_found`, `message_without_file`, `upload_not_found`, `insufficient_scope`,
 * and the errors of `viewFile`.
 */
export async function viewMedia({ message_id, upload_id, page }: Input, context: ReadContext) {
  const { world, db, caller, signal } = context;
  const file =
    upload_id === undefined
      ? await readMessageFile(message_id ?? "", context)
      : await uploadedFile(world, await getAccessibleUpload(db, caller, upload_id, "upload_id"));
  return viewFile({ world, file, page, signal });
}

async function readMessageFile(id: string, context: ReadContext): Promise<StoredFile> {
  const { db, organization, caller } = context;
  requireScope(caller, "inbox:read");
  const message = await ofOrganization(db, organization)
    .selectFrom("messages")
    .select(["type", "content"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!message) {
    throw failField("message_id", "message_not_found");
  }
  const media = mediaOf(message.content);
  if (!media) {
    const reason = `it is of type ${message.type}, or was deleted.`;
    throw failField("message_id", "message_without_file", { reason });
  }
  return findMessageFile(context, media);
}

function mediaOf({ media, template }: StoredContent) {
  const header = template?.header;
  return media ?? (header && "media" in header ? header.media : undefined);
}
