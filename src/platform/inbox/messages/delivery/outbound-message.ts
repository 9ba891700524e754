/** A claimed message in the form in which its channel gets it. */
import type { SentTemplate, StoredContent } from "../../../../database/schema/index.ts";
import type { OutboundMessage } from "../../../../ports/channel/channel.ts";
import type {
  MessageContent,
  SentLocation,
  TemplateCard,
  TemplateMessage,
} from "../../../../ports/channel/message-content.ts";
import { capabilitiesOf, storedAddress } from "../../../account/inboxes/index.ts";
import { type MediaTarget, toChannelMedia } from "../../../content/media/index.ts";
import type { World } from "../../../foundation/kernel/index.ts";
import { tryUnseal } from "../../../foundation/sealing/index.ts";
import type { ClaimedMessage } from "./claim.ts";

type StoredLocation = NonNullable<StoredContent["location"]>;

export async function toOutboundMessage(
  world: World,
  { channel, message, quotedId, from, account }: ClaimedMessage,
): Promise<OutboundMessage> {
  const { fetchesFiles } = capabilitiesOf(world, { channel });
  const target = { organization: message.organization_id, fetchesFiles };
  const { media, template, location, interactive, header_upload, sealed_code } = message.content;
  const code = sealed_code && tryUnseal(world, sealed_code)?.text;
  const content = {
    type: message.type,
    ...message.content,
    ...(location && { location: toChannelLocation(location) }),
    ...(media && { media: await toChannelMedia(world, target, media) }),
    ...(interactive?.header_media && {
      interactive: {
        ...interactive,
        header_media: await toChannelMedia(world, target, {
          ...interactive.header_media,
          upload: header_upload,
        }),
      },
    }),
    ...(template && { template: { ...(await toChannelTemplate(world, target, template)), code } }),
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

function toChannelLocation({ latitude, longitude, name, address }: StoredLocation): SentLocation {
  return { latitude, longitude, name: name ?? undefined, address: address ?? undefined };
}

async function toChannelTemplate(
  world: World,
  target: MediaTarget,
  template: SentTemplate,
): Promise<TemplateMessage> {
  const { name, language, header, body, footer, buttons, offer, values } = template;
  const cards = template.cards && (await Promise.all(template.cards.map(toChannelCard)));
  const message = { name, language, body, footer, buttons, offer, cards, values };
  return header === null || !("media" in header)
    ? { ...message, header }
    : { ...message, header: { type: header.type, media: await toChannelMedia(world, target, header.media) } };

  async function toChannelCard(card: NonNullable<SentTemplate["cards"]>[number]): Promise<TemplateCard> {
    const media = await toChannelMedia(world, target, card.header.media);
    return { ...card, header: { type: card.header.type, media } };
  }
}
