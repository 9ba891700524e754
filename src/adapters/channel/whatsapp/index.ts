/** WhatsApp by Meta's Cloud API: messages, their receipts and files, and the review of templates. */
import type { Channel } from "../../../ports/channel.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { TemplateAuthority } from "../../../ports/template-authority.ts";
import { connect } from "./connect.ts";
import { createFetchFile } from "./files.ts";
import type { WhatsAppSettings } from "./http.ts";
import { readLimits } from "./number-limits.ts";
import { createSend } from "./sending/index.ts";
import { createWhatsAppAuthority } from "./templates/index.ts";
import { answerHandshake, readRequest } from "./webhook/index.ts";

/** Where Meta serves the files of received messages. */
const metaMediaHosts = ["lookaside.fbsbx.com"];

export type WhatsAppAddress = Pick<WhatsAppSettings, "baseUrl" | "version">;

export interface OpenWhatsApp {
  readonly channel: Channel;
  readonly authority: TemplateAuthority;
}

export function openWhatsApp(address: WhatsAppAddress, now: Clock): OpenWhatsApp {
  const settings = { ...address, mediaHosts: metaMediaHosts };
  const channel: Channel = {
    isSimulated: false,
    send: createSend(settings, now),
    // The API has no look-up of messages.
    find: async () => ({ outcome: "unknown" }),
    provider: {
      connect: (request, signal) => connect(settings, request, signal),
      readLimits: (account, signal) => readLimits(settings, account, signal),
      answerHandshake,
      readRequest,
      fetchFile: createFetchFile(settings),
    },
  };
  return { channel, authority: createWhatsAppAuthority(settings) };
}
