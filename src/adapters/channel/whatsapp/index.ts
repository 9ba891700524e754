/** WhatsApp by Meta's Cloud API: messages, their receipts and files, and the review of templates. */
import type { Channel } from "../../../ports/channel/channel.ts";
import type { Clock } from "../../../ports/clock.ts";
import { whatsAppCapabilities } from "../capabilities.ts";
import { readWhatsAppAccount, toWhatsAppAccount } from "./account.ts";
import { checkNumber } from "./check.ts";
import { connect } from "./connect.ts";
import { createFetchFile } from "./files.ts";
import type { WhatsAppSettings } from "./http.ts";
import { readLimits } from "./number-limits.ts";
import { createSend, sendReaction, sendReadMark } from "./sending/index.ts";
import { setUpAccount } from "./set-up/index.ts";
import { createWhatsAppAuthority } from "./templates/index.ts";
import { answerHandshake, readRequest } from "./webhook/index.ts";

/** Where Meta serves the files of received messages. */
const metaMediaHosts = ["lookaside.fbsbx.com"];

export type WhatsAppAddress = Pick<WhatsAppSettings, "baseUrl" | "version">;

export function openWhatsApp(address: WhatsAppAddress, now: Clock): Channel {
  const settings = { ...address, mediaHosts: metaMediaHosts };
  const fetchFile = createFetchFile(settings);
  return {
    capabilities: whatsAppCapabilities,
    send: createSend(settings, now),
    markRead: (mark, { signal }) => sendReadMark(settings, mark, signal),
    react: (reaction, { signal }) => sendReaction(settings, reaction, signal),
    // The API has no look-up of messages.
    find: async () => ({ outcome: "unknown" }),
    async check({ account, address: phone_number }, { signal }) {
      if (!account) {
        throw new Error("An inbox of WhatsApp has no account.");
      }
      return checkNumber(settings, { account: toWhatsAppAccount(account), phone_number }, signal);
    },
    provider: {
      readAccount: readWhatsAppAccount,
      connect: ({ account, address: phone_number }, signal) =>
        connect(settings, { account: toWhatsAppAccount(account), phone_number }, signal),
      setUp: (request, signal) => setUpAccount(settings, request, signal),
      readLimits: (account, signal) => readLimits(settings, toWhatsAppAccount(account), signal),
      webhook: {
        answerHandshake: (account, query) => answerHandshake(toWhatsAppAccount(account), query),
        readRequest: (account, request) => readRequest(toWhatsAppAccount(account), request),
      },
      fetchFile: (account, file, read) => fetchFile(toWhatsAppAccount(account), file, read),
    },
    templates: createWhatsAppAuthority(settings),
  };
}
