/**
 * Reads a refused request to its end before a connection that closes is closed.
 *
 * A socket that is closed while bytes of a request still come answers them with a reset, and that takes the
 * refusal along before its sender has read it: a file that is too large ended as a broken pipe. Where the
 * connection stays, what comes is dropped behind the answer. It costs no more than a slow sender may cost
 * anyway: the request's own time limit ends it.
 */
import { finished } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";

export async function drainRequest({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  const isClosed = !reply.raw.shouldKeepAlive || reply.getHeader("connection") === "close";
  if (reply.statusCode < 400 || !isClosed || raw.complete || raw.destroyed) {
    return;
  }
  raw.resume();
  // A sender who is gone hears nothing, whatever is done.
  await finished(raw, { writable: false }).catch(() => undefined);
}
