/** Opens every channel, with the authorities that review its templates. */
import type { Channel } from "../../ports/channel.ts";
import type { TemplateAuthority } from "../../ports/template-authority.ts";
import { type OpenSimulatorOptions, openSimulator } from "./simulator/index.ts";
import { openWhatsApp, type WhatsAppAddress } from "./whatsapp/index.ts";

interface ChannelsOptions extends OpenSimulatorOptions {
  readonly whatsapp: WhatsAppAddress;
  /** Puts another authority in the place of the simulated one. */
  readonly replaceAuthority?: ((simulated: TemplateAuthority) => TemplateAuthority) | undefined;
}

export function openChannels(options: ChannelsOptions) {
  const { channel, authority, routes, jobs } = openSimulator(options);
  const whatsapp = openWhatsApp(options.whatsapp, options.now);
  const channels: Record<string, Channel> = { simulator: channel, whatsapp: whatsapp.channel };
  const authorities: Record<string, TemplateAuthority> = {
    simulator: options.replaceAuthority?.(authority) ?? authority,
    whatsapp: whatsapp.authority,
  };
  return { channels, authorities, routes, jobs };
}
