/**
 * Fetches the files of received messages. Their addresses are valid for 5 minutes and need the token, which
 * goes to the API's host and Meta's media hosts alone.
 */
import { z } from "zod";
import type { FileContent, WantedFile } from "../../../ports/channel/channel.ts";
import { limitBytes } from "../../../streams/bytes.ts";
import { withDeadline } from "../../../time/deadline.ts";
import { exchange } from "../../http-client/index.ts";
import type { WhatsAppAccount } from "./account.ts";
import { askGraph, parseAnswer, segment, tooLong, type WhatsAppSettings } from "./http.ts";

const Location = z.object({ url: z.url({ protocol: /^https?$/ }) });

const downloadTimeoutMs = 60_000;
/** The largest document that WhatsApp delivers. */
const maxBytes = 100 * 1024 * 1024;
const unknownObject = 100;

export function createFetchFile(settings: WhatsAppSettings) {
  return async <Value>(
    credentials: WhatsAppAccount,
    { id, signal }: WantedFile,
    read: (content: FileContent) => Promise<Value>,
  ): Promise<Value | undefined> => {
    const path = `/${segment(id)}?phone_number_id=${segment(credentials.phone_number_id)}`;
    const answer = await askGraph({ settings, credentials, signal }, { method: "GET", path });
    if (answer.outcome === "rejected") {
      if (answer.error.code === unknownObject) {
        return undefined;
      }
      throw new Error(`WhatsApp refused to name the address of a file: code ${answer.error.code}.`);
    }
    const { url } = parseAnswer(Location, answer.value);
    requireKnownHost(settings, url);
    const headers = { authorization: `Bearer ${credentials.access_token}` };
    const request = { method: "GET", url, headers } as const;
    return withDeadline(downloadTimeoutMs, [signal], (deadline) =>
      exchange(request, deadline, async ({ statusCode, headers, body }) => {
        if (statusCode !== 200) {
          await body.dump();
          throw new Error(`A file of WhatsApp could not be fetched: status ${statusCode}.`);
        }
        const type = String(headers["content-type"] ?? "");
        return read({ type, body: limitBytes(body, maxBytes, tooLong) });
      }),
    );
  };
}

/** @throws Error for a host that must not get the token. */
function requireKnownHost({ baseUrl, mediaHosts }: WhatsAppSettings, url: string): void {
  const [{ origin, protocol, hostname }, base] = [new URL(url), new URL(baseUrl)];
  const isMediaHost = protocol === "https:" && mediaHosts.includes(hostname);
  if (origin !== base.origin && !isMediaHost) {
    throw new Error(`A file of WhatsApp is on the host ${hostname}, which does not get the token.`);
  }
}
