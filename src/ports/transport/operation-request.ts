/** A request for an operation, as the client hands it to a transport, and its response. */
import type { Operation } from "../../../tools/contract/index.ts";

export interface OperationRequest extends Pick<Operation, "method" | "path"> {
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Those of the path, and of the query or the body. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Sent as a form with the fields. */
  readonly file: OutgoingFile | undefined;
}

export interface OutgoingFile {
  readonly name: string;
  /** The media type. */
  readonly type: string;
  /** In bytes. */
  readonly size: number;
  /** Opens the content; called once for each attempt. */
  open(): AsyncIterable<Uint8Array>;
}

export interface OperationResponse {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The JSON value; undefined for anything else. */
  readonly body: unknown;
}
