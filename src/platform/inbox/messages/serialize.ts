/** A message as the contract shows it. */
import { sql } from "kysely";
import { fromMicros } from "../../../../tools/money.ts";
import type { MessageCharge } from "../../../database/schema/index.ts";
import { createLink } from "../../content/uploads/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import type { MessageRow } from "./progress.ts";

/** The channel of a message's inbox, to be selected with the columns of `messages`. */
export const channelOfMessage = sql<string>`(
  select inboxes.channel from conversations
  join inboxes on inboxes.organization_id = conversations.organization_id and inboxes.id = conversations.inbox_id
  where conversations.organization_id = messages.organization_id and conversations.id = messages.conversation_id
)`.as("channel");

type ShownRow = Omit<MessageRow, "transaction_id"> & { readonly channel: string };

/** A message that is being handed to the channel is still queued to its sender. */
export function serializeMessage<Row extends ShownRow>(world: World, row: Row) {
  const { text = null, interactive = null, template = null, reply = null } = row.content;
  const media = row.content.media ? withFreshLink(world, row.direction, row.content.media) : null;
  const { unsupported } = row.content;
  const shown = unsupported ? { ...unsupported, original: null } : null;
  const reactions = (row.reactions ?? []).flatMap(({ emoji, from, at }) =>
    emoji === null ? [] : [{ emoji, from, at }],
  );
  const status = row.status === "sending" ? ("queued" as const) : row.status;
  const delay = status === "queued" ? row.delay : null;
  return {
    ...row,
    text,
    media,
    interactive,
    template,
    reply,
    unsupported: shown,
    reactions,
    status,
    ...(world.channels[row.channel]?.capabilities.isSimulated ? { simulated: true as const } : {}),
    delay,
    price: row.charge && priceOf(row.charge),
  };
}

/** One that was released costs nothing. */
function priceOf({ price, status, currency, category, country, simulated = false }: MessageCharge) {
  const amount = fromMicros(status === "released" ? 0 : price);
  return { amount, currency, category, country, status, simulated };
}

type Media = NonNullable<MessageRow["content"]["media"]>;

/**
 * The link to a received file expires, so each answer has a new one. An outbound message shows what was sent.
 */
function withFreshLink(world: World, direction: MessageRow["direction"], media: Media): Media {
  return direction === "inbound" && media.upload !== undefined
    ? { ...media, url: createLink(world, media.upload, world.now()).url }
    : media;
}
