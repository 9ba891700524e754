/** A multipart form that is being received, as a transport passes it on. */

/** A file that is being received. Reading `body` throws if the sender disconnects. */
export interface IncomingFile {
  /** The file name as sent: for display, never a path. */
  readonly name: string | undefined;
  /** The media type as declared by the sender. */
  readonly type: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Its fields may stand before and after the file, so they are known once the file has been read. */
export interface Form {
  /** Passes the file to `receive` while it arrives; returns its result and the fields. */
  read<Received>(receive: (file: IncomingFile) => Promise<Received>): Promise<{
    readonly fields: Readonly<Record<string, unknown>>;
    readonly file: Received | undefined;
  }>;
}

/** The input of a streamed operation. */
export interface StreamedInput<Input> {
  /**
   * Reads the form, as `Form.read` does, and validates its fields.
   * @throws Failure `invalid_request`, after `receive` has run: fields may follow the file.
   */
  read<Received>(receive: (file: IncomingFile) => Promise<Received>): Promise<{
    readonly input: Input;
    readonly file: Received | undefined;
  }>;
}
