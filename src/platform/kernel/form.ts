/** A form as a face hands it over: its fields are known once its file has been taken in. */

/** A file that is still coming. Reading it throws when its sender gives up. */
export interface IncomingFile {
  /** As the sender calls it: words to show, never a path. */
  readonly name: string | undefined;
  /** The media type that the sender declares. */
  readonly type: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface Form {
  /** Hands the one file to `take` as it comes, and answers the fields that stood before and after it. */
  read<Taken>(take: (file: IncomingFile) => Promise<Taken>): Promise<{
    readonly fields: Readonly<Record<string, unknown>>;
    readonly file: Taken | undefined;
  }>;
}

/** The input of a streamed operation, which its handler lets in. */
export interface Arriving<Input> {
  /** @throws Failure `invalid_request` when the fields, which may come last, are wrong. */
  read<Taken>(take: (file: IncomingFile) => Promise<Taken>): Promise<{
    readonly input: Input;
    readonly file: Taken | undefined;
  }>;
}
