/** Opens every channel. */
import type { Channel } from "../../ports/channel/channel.ts";
import type { TemplateAuthority } from "../../ports/channel/template-authority.ts";
import { type OpenSimulatorOptions, openSimulator } from "./simulator/index.ts";
import { openWhatsApp, type WhatsAppAddress } from "./whatsapp/index.ts";

export { firstInbox } from "./simulator/index.ts";

interface ChannelsOptions extends OpenSimulatorOptions {
  readonly whatsapp: WhatsAppAddress;
  /** Puts another authority in the place of the simulated one. */
  readonly replaceAuthority?: ((simulated: TemplateAuthority) => TemplateAuthority) | undefined;
}

export function openChannels(options: ChannelsOptions) {
  const { channel, authority, routes, jobs } = openSimulator(options);
  const channels: Record<string, Channel> = {
    simulator: { ...channel, templates: options.replaceAuthority?.(authority) ?? authority },
    whatsapp: openWhatsApp(options.whatsapp, options.now),
  };
  return { channels, routes, jobs };
}
