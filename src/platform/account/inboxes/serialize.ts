/** Serializes an inbox as the contract shows it, without the secrets of its account. */
import type { Selectable } from "kysely";
import { InboxSettings } from "../../../../tools/inboxes.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { serializeHealth } from "./health.ts";

/** Where the provider of a channel reports messages and receipts. */
export const callbackPath = "/webhooks/{channel}/{organization_id}/{inbox_id}";

export function serializeInbox(world: World, row: Selectable<Tables["inboxes"]>) {
  const { organization_id, id, channel } = row;
  const path = callbackPath
    .replace("{channel}", channel)
    .replace("{organization_id}", organization_id)
    .replace("{inbox_id}", id);
  const { addresses } = world;
  const { capabilities, provider } = world.channels[channel] ?? {};
  const isCalled = provider?.webhook !== undefined && addresses.isPublic;
  return {
    ...row,
    simulated: capabilities?.isSimulated ?? false,
    settings: InboxSettings.parse(row.settings),
    callback_url: isCalled ? `${addresses.service()}${path}` : null,
    health: serializeHealth(row),
    limits: row.limits,
  };
}
