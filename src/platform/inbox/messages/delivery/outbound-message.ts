/** A claimed message in the form in which its channel gets it. */
import type { SentTemplate } from "../../../../database/schema/index.ts";
import type { OutboundMessage } from "../../../../ports/channel/channel.ts";
import type { MessageContent, TemplateMessage } from "../../../../ports/channel/message-content.ts";
import { capabilitiesOf, storedAddress } from "../../../account/inboxes/index.ts";
import { type MediaTarget, toChannelMedia } from "../../../content/media/index.ts";
import type { World } from "../../../foundation/kernel/index.ts";
import type { ClaimedMessage } from "./claim.ts";

export async function toOutboundMessage(
  world: World,
  { channel, message, quotedId, from, account }: ClaimedMessage,
): Promise<OutboundMessage> {
  const { fetchesFiles } = capabilitiesOf(world, { channel });
  const target = { organization: message.organization_id, fetchesFiles };
  const { media, template } = message.content;
  const content = {
    type: message.type,
    ...message.content,
    ...(media && { media: await toChannelMedia(world, target, media) }),
    ...(template && { template: await toChannelTemplate(world, target, template) }),
  };
  return {
    organization_id: message.organization_id,
    from,
    account,
    to: storedAddress(world, channel, message.to ?? ""),
    token: message.id,
    refusals: message.refusals,
    is_bulk: message.broadcast_id !== null,
    reply_to: quotedId ?? undefined,
    // `sendMessage` stored it from a validated input, so the content has the member that its type requires.
    content: content as MessageContent,
  };
}

async function toChannelTemplate(
  world: World,
  target: MediaTarget,
  template: SentTemplate,
): Promise<TemplateMessage> {
  const { name, language, header, body, footer, buttons, values } = template;
  const message = { name, language, body, footer, buttons, values };
  return header === null || header.type === "text"
    ? { ...message, header }
    : { ...message, header: { type: header.type, media: await toChannelMedia(world, target, header.media) } };
}
