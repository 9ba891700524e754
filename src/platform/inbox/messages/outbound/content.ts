/** Reads what the content of a message needs: its template, its file, or what its channel can send. */
import type { z } from "zod";
import { fail } from "../../../../../tools/errors.ts";
import {
  type messages as contract,
  interactiveOffers,
  mediaOf,
} from "../../../../../tools/messages/index.ts";
import type { ChannelCapabilities, ExtraContent } from "../../../../ports/channel/capabilities.ts";
import type { MediaType, SentCard } from "../../../../ports/channel/message-content.ts";
import { capabilitiesOf } from "../../../account/inboxes/index.ts";
import { type KeptFiles, readMedia } from "../../../content/media/index.ts";
import {
  composeTemplate,
  findTemplates,
  requireApproved,
  requireTemplates,
} from "../../../content/templates/index.ts";
import { seal } from "../../../foundation/sealing/index.ts";
import type { MessageRow } from "../progress/index.ts";
import { summaryOf } from "../wording/index.ts";
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
  files?: KeptFiles,
): Promise<ContentOf> {
  const { type, text, template, interactive, location, contacts: cards } = input;
  if (template) {
    const { name, language } = template;
    const candidates = await findTemplates(db, { organization, name, language });
    return async ({ id: inbox_id, channel }) => {
      requireTemplates(world, channel);
      const wanted = { organization, name, language, inbox_id };
      const approved = await requireApproved(db, candidates, wanted);
      const { media } = capabilitiesOf(world, { channel });
      const composed = await composeTemplate(db, { template: approved, media, files }, template);
      const { code } = composed;
      return {
        template: composed.template,
        ...(code === undefined ? {} : { sealed_code: seal(world, code) }),
      };
    };
  }
  if (interactive) {
    const header = interactive.header_media;
    const headerFor = header && (await readMedia(db, { organization, ...headerInput(header), files }));
    return async (inbox) => {
      const capabilities = capabilitiesOf(world, inbox);
      requireChoices(capabilities, interactive);
      const upload = headerFor?.(capabilities.media).upload;
      return { interactive, ...(upload === undefined ? {} : { header_upload: upload }) };
    };
  }
  if (type === "text") {
    return async () => ({ text });
  }
  if (location) {
    const { latitude, longitude, name = null, address = null } = location;
    const part = { latitude, longitude, name, address, url: null };
    const summary = summaryOf({ type: "location", location: part });
    return withExtra(world, "location", { location: part, ...summary });
  }
  if (cards) {
    const contacts = cards.map(toCardPart);
    const summary = summaryOf({ type: "contacts", contacts });
    return withExtra(world, "cards", { contacts, cards, ...summary });
  }
  // `NewMessage` requires the content of each type: what is left are the types of media.
  const { url: media_url = "", ...labels } = mediaOf(input);
  const mediaFor = await readMedia(db, {
    organization,
    type: type as MediaType,
    media_url,
    files,
    ...labels,
  });
  return async (inbox) => ({ media: mediaFor(capabilitiesOf(world, inbox).media) });
}

/** The result throws `content_not_supported` on a channel that can't send it. */
function withExtra(
  world: SendingContext["world"],
  type: ExtraContent,
  content: MessageRow["content"],
): ContentOf {
  return async (inbox) => {
    if (!capabilitiesOf(world, inbox).extras.includes(type)) {
      throw fail("content_not_supported", {
        content: `messages with a ${type === "cards" ? "contact card" : type}`,
      });
    }
    return content;
  };
}

/** A card as messages show it. */
function toCardPart({ name, organization, phones = [], emails = [] }: SentCard) {
  return {
    name,
    organization: organization ?? null,
    phones: phones.map(({ phone }) => phone),
    emails: emails.map(({ email }) => email),
  };
}

type Interactive = NonNullable<MessageInput["interactive"]>;

function headerInput({ type, url: media_url, file_name }: NonNullable<Interactive["header_media"]>) {
  return { type, media_url, file_name, field: "interactive.header_media.url" };
}

/** @throws Failure `content_not_supported`. */
function requireChoices(
  { interactive: limits, extras }: ChannelCapabilities,
  interactive: Interactive,
): void {
  const { buttons = [], list } = interactive;
  const rows = list?.sections.flatMap((section) => section.rows) ?? [];
  if (buttons.length > (limits?.buttons ?? 0)) {
    throw fail("content_not_supported", { content: `${buttons.length} buttons in a message` });
  }
  if (rows.length > (limits?.rows ?? 0)) {
    throw fail("content_not_supported", { content: `a list of ${rows.length} rows` });
  }
  const other = interactiveOffers.find((name) => name !== "buttons" && name !== "list" && interactive[name]);
  if (other !== undefined && !extras.some((name) => name === other)) {
    throw fail("content_not_supported", { content: `messages with ${other}` });
  }
}
