/**
 * Reads the rest of a rejected request before its connection is closed.
 *
 * A socket that is closed while bytes still arrive sends a reset, which discards the error response before
 * the client has read it: an upload that was too large ended as a broken pipe. On a connection that stays
 * open, the rest is dropped after the response. The request timeout limits how long this takes.
 */
import { finished } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";

export async function drainRequest({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  const isClosed = !reply.raw.shouldKeepAlive || reply.getHeader("connection") === "close";
  if (reply.statusCode < 400 || !isClosed || raw.complete || raw.destroyed) {
    return;
  }
  raw.resume();
  // Nothing to do if the client has disconnected.
  await finished(raw, { writable: false }).catch(() => undefined);
}
