/**
 * Reads JSON bodies: UTF-8 without names that reach a prototype. An empty body is an empty object, and large
 * bodies wait for their turn.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Failure } from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import { createLargeBodies, largeBodyBytes } from "./large-bodies.ts";
import type { ReceiveBody } from "./receive.ts";

export interface JsonBody {
  /** In bytes. */
  readonly size: number;
  /** The organization of the request; empty if there is none. */
  readonly owner: string;
  /** @throws Error if the bytes are not UTF-8. */
  decode(): string;
}

type ParseEnd = (error: Error | null, value?: unknown) => void;

/** Calls `done` with the value, or with a Failure or an error of Fastify. */
export type ReadJsonBody = (body: JsonBody, done: ParseEnd) => void;

/** Fastify's parser does not use the request. */
const noRequest = {} as FastifyRequest;

export function createJsonReader(app: Pick<FastifyInstance, "getDefaultJsonParser">): ReadJsonBody {
  const parse = app.getDefaultJsonParser("error", "error");
  const readLarge = createLargeBodies();
  const read = ({ decode }: JsonBody, done: ParseEnd): void => {
    let text: string;
    try {
      text = decode();
    } catch {
      done(fail("malformed_body", { reason: "it is not UTF-8." }));
      return;
    }
    if (text.trim() === "") {
      done(null, {});
      return;
    }
    // Reports its result only to `done`.
    void parse(noRequest, text, done);
  };
  return (body, done) => {
    if (body.size <= largeBodyBytes) {
      read(body, done);
      return;
    }
    try {
      readLarge(body.owner, () => read(body, done));
    } catch (error) {
      done(error as Failure); // the only error that it throws
    }
  };
}

export interface JsonParts {
  readonly receive: ReceiveBody;
  readonly readJson: ReadJsonBody;
}

/** Parses the bodies of requests with the content type of JSON. */
export function addJsonParser(app: FastifyInstance, { receive, readJson }: JsonParts): void {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", (request, _payload, done) => {
    const owner = request.caller?.organization_id ?? "";
    void receive(request).then(
      (bytes) => readJson({ size: bytes.length, owner, decode: () => utf8.decode(bytes) }, done),
      done,
    );
  });
}
