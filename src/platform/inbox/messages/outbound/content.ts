/** Reads what the content of a message needs: its template or its file. */
import type { z } from "zod";
import { fail } from "../../../../../tools/errors.ts";
import { type messages as contract, mediaOf } from "../../../../../tools/messages/index.ts";
import type { ChannelCapabilities } from "../../../../ports/channel/capabilities.ts";
import type { MediaType } from "../../../../ports/channel/message-content.ts";
import { capabilitiesOf } from "../../../account/inboxes/index.ts";
import { readMedia } from "../../../content/media/index.ts";
import {
  composeTemplate,
  findTemplates,
  requireApproved,
  requireTemplates,
} from "../../../content/templates/index.ts";
import type { MessageRow } from "../progress.ts";
import type { SendingContext } from "./check.ts";
import type { Recipient } from "./recipient.ts";

export type MessageInput = z.output<typeof contract.send_message.input>;

type ContentOf = (inbox: Pick<Recipient["inbox"], "id" | "channel">) => Promise<MessageRow["content"]>;

/**
 * Reads what the content needs. Which template it is, and what its channel accepts, depends on the inbox,
 * which is not known yet.
 * @throws Failure `upload_not_found`; the result throws `templates_not_supported`, `template_not_approved`,
 * `content_not_supported`, `media_not_sendable`.
 */
export async function readContent(
  { db, world, organization }: SendingContext,
  input: MessageInput,
): Promise<ContentOf> {
  const { type, text, template, interactive } = input;
  if (template) {
    const { name, language } = template;
    const candidates = await findTemplates(db, { organization, name, language });
    return async ({ id: inbox_id, channel }) => {
      requireTemplates(world, channel);
      const wanted = { organization, name, language, inbox_id };
      const approved = await requireApproved(db, candidates, wanted);
      const { media } = capabilitiesOf(world, { channel });
      return { template: await composeTemplate(db, { template: approved, media }, template) };
    };
  }
  if (interactive) {
    return async (inbox) => {
      requireChoices(capabilitiesOf(world, inbox), interactive);
      return { interactive };
    };
  }
  if (type === "text") {
    return async () => ({ text });
  }
  // `NewMessage` requires the content of each type: what is left are the types of media.
  const { url: media_url = "", ...labels } = mediaOf(input);
  const mediaFor = await readMedia(db, { organization, type: type as MediaType, media_url, ...labels });
  return async (inbox) => ({ media: mediaFor(capabilitiesOf(world, inbox).media) });
}

/** @throws Failure `content_not_supported`. */
function requireChoices(
  { interactive: limits }: ChannelCapabilities,
  { buttons = [], list }: NonNullable<MessageInput["interactive"]>,
): void {
  const rows = list?.sections.flatMap((section) => section.rows) ?? [];
  if (buttons.length > (limits?.buttons ?? 0)) {
    throw fail("content_not_supported", { content: `${buttons.length} buttons in a message` });
  }
  if (rows.length > (limits?.rows ?? 0)) {
    throw fail("content_not_supported", { content: `a list of ${rows.length} rows` });
  }
}
