/** What the house needs of a store of files. Called outside any transaction. */

/** From the first byte to the last, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** What a store that serves files by itself must know of one. */
export interface FileMetadata {
  readonly contentType: string;
  readonly disposition: string;
}

export interface Storage {
  /**
   * Keeps a body under a key of ours (`letters/letters`, never a caller's name). It is there whole or not at
   * all: a body that throws leaves nothing. Memory does not grow with it.
   */
  write(key: string, body: AsyncIterable<Uint8Array>, facts: FileMetadata): Promise<void>;
  /** The file, or a part of it; undefined if there is none. */
  read(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** There is no such file afterwards, whether there was or not. */
  delete(key: string): Promise<void>;
  /** An address at the store itself from which anyone can read for a while; undefined if it has none. */
  presign(key: string, seconds: number): Promise<string | undefined>;
}
