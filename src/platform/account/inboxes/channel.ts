/** The channel of an inbox: what it can do, and what the settings of the inbox make of that. */
import { fail } from "../../../../tools/errors.ts";
import { InboxSettings } from "../../../../tools/inboxes.ts";
import type { ChannelCapabilities } from "../../../ports/channel/capabilities.ts";
import type { Channel } from "../../../ports/channel/channel.ts";
import type { World } from "../../foundation/kernel/index.ts";

type Channels = Pick<World, "channels">;

/** @throws Failure `unavailable`. */
export function channelOf({ channels }: Channels, name: string): Channel {
  const channel = channels[name];
  if (!channel) {
    throw fail("unavailable", { reason: `the channel ${name} is not configured.` });
  }
  return channel;
}

export interface InboxOfChannel {
  readonly channel: string;
  readonly settings: Record<string, unknown>;
}

/** @throws Failure `unavailable`. */
export function capabilitiesOf(world: Channels, inbox: Pick<InboxOfChannel, "channel">): ChannelCapabilities {
  return channelOf(world, inbox.channel).capabilities;
}

/** The names of the channels that can do something. */
export function channelsThat(
  { channels }: Channels,
  can: (capabilities: ChannelCapabilities) => boolean,
): string[] {
  return Object.entries(channels).flatMap(([name, { capabilities }]) => (can(capabilities) ? [name] : []));
}

/** What contacts see of an inbox's reading: nothing by default, and on a channel without read marks. */
export function readMarksOf(
  { channels }: Channels,
  { channel, settings }: InboxOfChannel,
): "off" | "read" | "typing" {
  const { read_marks = "off" } = InboxSettings.pick({ read_marks: true }).parse(settings);
  const possible = channels[channel]?.capabilities.readMarks;
  return possible === "typing" || read_marks !== "typing" ? (possible ? read_marks : "off") : "off";
}

/**
 * Free text outside the service window is rejected (strict), or sent with a warning (advisory), which only a
 * simulated channel allows. A channel without a window has no rule.
 */
export type WindowRule = "none" | "advisory" | "strict";

export function windowRuleOf({ channels }: Channels, { channel, settings }: InboxOfChannel): WindowRule {
  const { capabilities } = channels[channel] ?? {};
  if (!capabilities?.hasWindow) {
    return "none";
  }
  return capabilities.isSimulated && settings.service_window !== "strict" ? "advisory" : "strict";
}
