/** Serializes an inbox as the contract shows it, without the secrets of its account. */
import type { Selectable } from "kysely";
import { InboxSettings } from "../../../../tools/inboxes.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { serializeHealth } from "./health.ts";

/** Where the provider of a channel reports messages and receipts. */
export const callbackPath = "/webhooks/{channel}/{organization_id}/{inbox_id}";

interface InboxPath {
  readonly organization_id: string;
  readonly id: string;
  readonly channel: string;
}

/** Null for a channel whose provider does not report, and without a public address. */
export function callbackUrlOf(
  { addresses, channels }: Pick<World, "addresses" | "channels">,
  { organization_id, id, channel }: InboxPath,
): string | null {
  const path = callbackPath
    .replace("{channel}", channel)
    .replace("{organization_id}", organization_id)
    .replace("{inbox_id}", id);
  const isCalled = channels[channel]?.provider?.webhook !== undefined && addresses.isPublic;
  return isCalled ? `${addresses.service()}${path}` : null;
}

export function serializeInbox(world: World, row: Selectable<Tables["inboxes"]>) {
  const { capabilities } = world.channels[row.channel] ?? {};
  return {
    ...row,
    simulated: capabilities?.isSimulated ?? false,
    settings: InboxSettings.parse(row.settings),
    callback_url: callbackUrlOf(world, row),
    health: serializeHealth(row),
    limits: row.limits,
  };
}
