/**
 * Copies the file of a received message from the channel's provider, and adds it to the message's content.
 */
import { Failure } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { maxUploadBytes } from "../../../../../tools/uploads.ts";
import type { Attempt } from "../../../../jobs/job.ts";
import type { ReceivedContent } from "../../../../ports/channel/message-content.ts";
import { limitBytes } from "../../../../streams/bytes.ts";
import { withDeadline } from "../../../../time/deadline.ts";
import { providerOf, readAccount } from "../../../account/inboxes/index.ts";
import { createLink, nameOfType, type ReceivedFile, receiveFile } from "../../../content/uploads/index.ts";
import type { World } from "../../../foundation/kernel/index.ts";
import { withSender } from "../../contacts/index.ts";
import type { ReportedMessage } from "./reported-message.ts";
import type { MessageToStore } from "./store/index.ts";

const fetchTimeoutMs = 45_000;

/** Null if it can't be had or stored. @throws Error if a later attempt may succeed. */
export async function fetchReceivedFile(
  world: World,
  { organization_id, inbox_id, message }: ReportedMessage,
  attempt: Attempt,
): Promise<ReceivedFile | null> {
  const { queries } = world.database;
  try {
    const found = await readAccount(queries, world, { organization_id, inbox_id });
    const provider = found && providerOf(world, found.channel);
    const { file, content } = message;
    if (!found || !provider || file === null || !("media" in content)) {
      return null;
    }
    const owner = { world, organization: organization_id, credential_id: null };
    const name = content.media.file_name ?? nameOfType(content.type, file.content_type);
    const fetched = await withDeadline(fetchTimeoutMs, [attempt.signal], ({ signal }) =>
      provider.fetchFile(found.account, { id: file.id, signal }, ({ body }) =>
        receiveFile(owner, {
          name,
          type: file.content_type,
          body: limitBytes(body, maxUploadBytes, () => fail("file_too_large", { limit: maxUploadBytes })),
        }),
      ),
    );
    return fetched ?? null;
  } catch (error) {
    if (!(error instanceof Failure) && !attempt.isLast) {
      throw error;
    }
    const { channel_message_id } = message;
    world.log.warn(
      { err: error, organization_id, channel_message_id },
      "A received file could not be stored",
    );
    return null;
  }
}

/** The message as it is stored. Without the file that the channel reported, its type is unsupported. */
export function withFile(
  world: World,
  { message: stored, ...target }: ReportedMessage,
  file: ReceivedFile | null,
): MessageToStore {
  const { original, ...reported } = stored;
  const details = reported.details ?? (original === undefined ? {} : { channel_data: original });
  const message = { ...withSender(reported), details };
  const { content } = message;
  if (message.file !== null && file === null) {
    const unsupported = { type: content.type, reason: "The file could not be stored." };
    const { channel_data: sent = {} } = details;
    const described = { ...Object(sent[content.type]), ...message.file, ...labelsOf(content) };
    const channel_data = { ...sent, [content.type]: described };
    return {
      ...target,
      message: {
        ...message,
        content: { type: "unsupported", unsupported },
        details: { ...details, channel_data },
      },
      file,
    };
  }
  if (file === null || !("media" in content)) {
    return { ...target, message, file };
  }
  const { url } = createLink(world, file.key, world.now());
  const media = { ...content.media, url, upload: file.key };
  return { ...target, message: { ...message, content: { type: content.type, media } }, file };
}

function labelsOf(content: ReceivedContent) {
  return "media" in content ? { caption: content.media.caption, filename: content.media.file_name } : {};
}
