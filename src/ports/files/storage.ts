/** The port to the file store. Called outside any transaction. */

/** The positions of the first and the last byte, both inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The headers with which a store serves a file itself. */
export interface FileMetadata {
  readonly contentType: string;
  readonly disposition: string;
}

export interface Storage {
  /**
   * Stores a body under a key that this service generated (`letters/letters`, never a caller's file name).
   * Atomic: a body that throws leaves nothing. Memory use does not depend on the size.
   */
  write(key: string, body: AsyncIterable<Uint8Array>, metadata: FileMetadata): Promise<void>;
  /** The file, or a part of it; undefined if it does not exist. */
  read(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Succeeds also if the file does not exist. */
  delete(key: string): Promise<void>;
  /** A URL of the store itself, readable by anyone until it expires; undefined if the store has no such URLs. */
  presign(key: string, seconds: number): Promise<string | undefined>;
}
