/** A message as the contract shows it. */
import { sql } from "kysely";
import { fromMicros } from "../../../../tools/money.ts";
import type { InboxHealth, MessageCharge } from "../../../database/schema/index.ts";
import { createLink } from "../../content/uploads/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { waitOf } from "./delivery/index.ts";
import type { MessageRow } from "./progress/index.ts";

/** The channel of a message's inbox, to be selected with the columns of `messages`. */
export const channelOfMessage = sql<string>`(
  select inboxes.channel from conversations
  join inboxes on inboxes.organization_id = conversations.organization_id and inboxes.id = conversations.inbox_id
  where conversations.organization_id = messages.organization_id and conversations.id = messages.conversation_id
)`.as("channel");

/** What stops or delays the inbox of a queued message, to be selected as `channelOfMessage`. */
export const healthOfMessage = sql<InboxHealth | null>`(
  select inboxes.health from conversations
  join inboxes on inboxes.organization_id = conversations.organization_id and inboxes.id = conversations.inbox_id
  where messages.status = 'queued' and messages.delay is null
    and conversations.organization_id = messages.organization_id and conversations.id = messages.conversation_id
)`.as("health");

type ShownRow = Omit<MessageRow, "transaction_id"> & {
  readonly channel: string;
  /** Of the inbox; undefined if it was not read. */
  readonly health?: InboxHealth | null;
};

export function serializeMessage<Row extends ShownRow>(world: World, row: Row) {
  const { text = null, interactive = null, template = null, reply = null, unsupported = null } = row.content;
  const { media: _, edit_ids: __, ...received } = row.content;
  const media = row.content.media ? withFreshLink(world, row, row.content.media) : null;
  const reactions = (row.reactions ?? []).flatMap(({ emoji, from, at }) =>
    emoji === null ? [] : [{ emoji, from, at }],
  );
  const status = shownMessageStatus(row.status);
  return {
    ...row,
    ...received,
    text,
    media,
    interactive,
    template,
    reply,
    unsupported,
    reactions,
    status,
    ...(world.channels[row.channel]?.capabilities.isSimulated ? { simulated: true as const } : {}),
    waiting_for: waitOf(row, world.now()),
    price: row.charge && priceOf(row.charge),
  };
}

/** A message that is being handed to the channel is still queued to its sender. */
export function shownMessageStatus(status: MessageRow["status"]) {
  return status === "sending" ? ("queued" as const) : status;
}

/** One that was released costs nothing. */
function priceOf({ price, status, currency, category, country, simulated = false }: MessageCharge) {
  const amount = fromMicros(status === "released" ? 0 : price);
  return { amount, currency, category, country, status, simulated };
}

type Media = NonNullable<MessageRow["content"]["media"]>;

/**
 * The link to a received file expires, so each answer has a new one. An outbound message shows what was sent;
 * of one from the owner's phone, the file was received too.
 */
function withFreshLink(
  world: World,
  { direction, sent_by }: Pick<MessageRow, "direction" | "sent_by">,
  media: Media,
): Media {
  const isReceived = direction === "inbound" || sent_by?.type === "phone";
  return isReceived && media.upload !== undefined
    ? { ...media, url: createLink(world, media.upload, world.now()).url }
    : media;
}
