/**
 * What files of each type must contain, and what they must not contain.
 *
 * `forbidden` lists content that another program would process: HTML in a browser, PHP on a server, an
 * archive, the macros of an office program. The whole file is searched as stored: compressed or encrypted
 * parts are not decoded, and nothing is guaranteed about them.
 */

export interface ContentRule {
  /** The first bytes, for types that the detector does not recognize reliably. */
  readonly magicBytes?: Buffer;
  /** The types that the detector may report for the first bytes; undefined if it may report no type. */
  readonly detectedTypes: readonly (string | undefined)[];
  /** All must occur in the file. Otherwise it is another format in the same kind of container. */
  readonly required: readonly ByteSignature[];
  readonly forbidden: readonly ByteSignature[];
  /** Whether tags of HTML, PHP and scripts are rejected, in upper or lower case. */
  readonly forbidsTags: boolean;
  /** Whether the names of PDF's scripts and commands are rejected, in any spelling. */
  readonly forbidsActions: boolean;
  /**
   * Whether the whole file must be UTF-8 text without control characters, and must not start like HTML or a
   * program.
   */
  readonly isText: boolean;
}

/** A byte sequence and its name in error messages. */
export interface ByteSignature {
  readonly name: string;
  readonly bytes: Buffer;
}

const signature = (name: string, bytes: string, encoding: BufferEncoding = "latin1"): ByteSignature => ({
  name,
  bytes: Buffer.from(bytes, encoding),
});

/**
 * For ZIP, eight bytes of the end record: the first four bytes alone would occur by chance in large files.
 */
const archives = [
  signature("a ZIP archive", "PK\x05\x06\0\0\0\0"),
  signature("a RAR archive", "Rar!\x1a\x07"),
  signature("a 7z archive", "7z\xbc\xaf\x27\x1c"),
];

const macros = [signature("macros", "vbaProject.bin"), signature("a Java program", "META-INF/MANIFEST.MF")];

const openXml = ["wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation"].map(
  (name) => `application/vnd.openxmlformats-officedocument.${name}`,
);

const base: ContentRule = {
  detectedTypes: [],
  required: [],
  forbidden: [],
  forbidsTags: false,
  forbidsActions: false,
  isText: false,
};

export const contentRules = {
  media: (...detected: string[]): ContentRule => ({
    ...base,
    detectedTypes: detected,
    forbidden: archives,
    forbidsTags: true,
  }),
  pdf: {
    ...base,
    detectedTypes: ["application/pdf"],
    magicBytes: Buffer.from("%PDF-"),
    forbidden: archives,
    forbidsTags: true,
    forbidsActions: true,
  } satisfies ContentRule,
  /**
   * Office Open XML: a ZIP archive whose file names are not compressed. Whether the detector recognizes it
   * depends on the order of the files.
   */
  package: (part: string): ContentRule => ({
    ...base,
    magicBytes: Buffer.from("PK\x03\x04"),
    detectedTypes: [undefined, "application/zip", ...openXml],
    required: [signature("a list of its parts", "[Content_Types].xml"), signature(part, part)],
    forbidden: macros,
  }),
  /** The older office formats: compound files, a container that installers use too. */
  compound: (stream: string): ContentRule => ({
    ...base,
    magicBytes: Buffer.from("d0cf11e0a1b11ae1", "hex"),
    detectedTypes: [undefined, "application/x-cfb"],
    required: [signature(stream, stream, "utf16le")],
    forbidden: [signature("macros", "_VBA_PROJECT", "utf16le")],
  }),
  text: { ...base, detectedTypes: [undefined], isText: true } satisfies ContentRule,
} as const;
