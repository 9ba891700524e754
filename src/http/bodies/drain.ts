/**
 * Reads the rest of a rejected request before its connection is closed.
 *
 * If a socket is closed while bytes still arrive, it sends a reset, and the client discards the error
 * response before reading it: an upload that was too large ended as a broken pipe. On a connection that stays
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
