/**
 * Fetches the media of messages, as WhatsApp does after it has accepted a message: what can't be fetched, or
 * is of another type or too large, fails the message with 131053.
 *
 * Of an address only the beginning of the answer is read, and its result is kept for ten minutes, as WhatsApp
 * keeps the file: a broadcast asks once.
 */
import type { ChannelFailure, OutboundMessage } from "../../../ports/channel/channel.ts";
import type { ChannelFile, MediaType, MessageContent } from "../../../ports/channel/message-content.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { IncomingResponse, Web } from "../../../ports/web.ts";
import { mediaLimits } from "../capabilities.ts";

/** Why the media of a message can't be sent; null if it can, or if the message has none. */
export type CheckMedia = (message: OutboundMessage) => Promise<ChannelFailure | null>;

/** Below the time that a send may take. */
const timeoutMs = 5_000;
const keptMs = 10 * 60_000;
const maxKept = 1_000;

interface Media {
  readonly type: MediaType;
  readonly url: string;
  readonly file?: ChannelFile | undefined;
}

export function createMediaCheck(web: Pick<Web, "download">, now: Clock): CheckMedia {
  const checks = new Map<string, { readonly since: number; readonly problem: Promise<string | undefined> }>();

  function check(organization_id: string, { type, url, file }: Media): Promise<string | undefined> {
    if (file) {
      return Promise.resolve(findFileProblem(type, file));
    }
    const key = `${organization_id} ${type} ${url}`;
    const known = checks.get(key);
    if (known && now().getTime() - known.since < keptMs) {
      return known.problem;
    }
    const problem = fetchBeginning(web, type, url);
    checks.delete(key);
    checks.set(key, { since: now().getTime(), problem });
    const [oldest] = checks.keys();
    if (checks.size > maxKept && oldest !== undefined) {
      checks.delete(oldest);
    }
    return problem;
  }

  return async ({ organization_id, content }) => {
    const details = await Promise.all(mediaOf(content).map((media) => check(organization_id, media)));
    const detail = details.find((problem) => problem !== undefined);
    return detail
      ? { reason: "media_rejected", channel_code: 131053, title: "Media upload error", detail }
      : null;
  };
}

function mediaOf(content: MessageContent): readonly Media[] {
  if ("media" in content) {
    return [{ type: content.type, ...content.media }];
  }
  if (content.type === "interactive") {
    return content.interactive.header_media ? [content.interactive.header_media] : [];
  }
  const { header = null, cards = [] } = content.type === "template" ? content.template : {};
  return [header, ...cards.map((card) => card.header)].flatMap((one) =>
    one && "media" in one ? [{ type: one.type, ...one.media }] : [],
  );
}

/** A file of the service's own store. Its size was checked when the message was accepted. */
function findFileProblem(type: MediaType, { content_type }: ChannelFile): string | undefined {
  return content_type === "" ? "The file was deleted." : findTypeProblem(type, content_type);
}

async function fetchBeginning(
  web: Pick<Web, "download">,
  type: MediaType,
  url: string,
): Promise<string | undefined> {
  const { maxBytes } = mediaLimits[type];
  const answer = await web.download({ method: "GET", url, timeoutMs, maxBytes }, async (response) =>
    readBeginning(type, response),
  );
  return answer.outcome === "answered" ? answer.value : `The media can't be fetched: ${answer.detail}`;
}

async function readBeginning(
  type: MediaType,
  { status, headers, body }: IncomingResponse,
): Promise<string | undefined> {
  if (status !== 200) {
    return `The media can't be fetched: its address answered ${status}.`;
  }
  // The limit is checked with the first bytes, by the length that the answer names.
  await body[Symbol.asyncIterator]().next();
  return findTypeProblem(type, headers["content-type"] ?? "");
}

function findTypeProblem(type: MediaType, header: string): string | undefined {
  const [content_type = ""] = header.split(";");
  const { contentTypes } = mediaLimits[type];
  return contentTypes.some((known) => known === content_type.trim().toLowerCase())
    ? undefined
    : `The media of type ${type} is ${content_type || "of no known type"}; send one of ${contentTypes.join(", ")}.`;
}
