/**
 * Receives bodies in memory, and limits how much the unfinished bodies of one sender take there.
 *
 * A body may arrive as slowly as the request timeout allows, so a sender that stops in the middle of many
 * bodies could fill the memory. What has arrived counts, not how many bodies there are or how large they are
 * announced: the bodies of a fast sender are complete, and no longer count, before the limit is reached.
 */
import type { FastifyRequest } from "fastify";
import { Failure } from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import { readBytes } from "../../streams/bytes.ts";
import { networkOf } from "../admission/index.ts";
import { largeBodyBytes } from "./large-bodies.ts";

/** 64 bodies of the default `TIDINGS_BODY_LIMIT`; eight of the largest ones if that is more. */
const maxUnfinishedBytes = (bodyLimit: number) => Math.max(64 * 1024 * 1024, 8 * bodyLimit);

/** @throws Failure `body_too_large`, `rate_limited`, `malformed_body` if the client disconnects. */
export type ReceiveBody = (request: FastifyRequest) => Promise<Buffer>;

export function createBodyReceiver(): ReceiveBody {
  const holdBytes = createUnfinishedBytes();
  return async ({ raw, headers, caller, ip, routeOptions: { bodyLimit } }) => {
    const tooLarge = () => fail("body_too_large", { limit: bodyLimit });
    if (Number(headers["content-length"]) > bodyLimit) {
      throw tooLarge();
    }
    const sender = caller?.organization_id ?? networkOf(ip);
    // A rejected body must not destroy the connection: the error is sent on it.
    const arriving = raw.iterator({ destroyOnReturn: false });
    try {
      return await readBytes(holdBytes(sender, arriving, bodyLimit), bodyLimit, tooLarge);
    } catch (error) {
      throw error instanceof Failure
        ? error
        : fail("malformed_body", { reason: "the connection ended before it was complete." }, error);
    }
  };
}

type Bytes = AsyncIterable<Uint8Array>;

/**
 * Passes on a body, whose bytes count for its sender until it ends. A body is rejected if the sender's other
 * bodies have reached the limit, so one body alone is not limited. The beginning of a body is never rejected:
 * for almost all webhooks it is the whole body.
 */
function createUnfinishedBytes() {
  const bySender = new Map<string, number>();
  return async function* (sender: string, body: Bytes, bodyLimit: number): AsyncGenerator<Uint8Array> {
    let size = 0;
    try {
      for await (const chunk of body) {
        const others = (bySender.get(sender) ?? 0) - size;
        size += chunk.length;
        if (size > largeBodyBytes && others >= maxUnfinishedBytes(bodyLimit)) {
          size -= chunk.length;
          throw fail("rate_limited", { retry_after: 1 });
        }
        bySender.set(sender, others + size);
        yield chunk;
      }
    } finally {
      const remaining = (bySender.get(sender) ?? 0) - size;
      bySender.set(sender, remaining);
      if (remaining === 0) {
        bySender.delete(sender);
      }
    }
  };
}
