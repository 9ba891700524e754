/**
 * What must be in a file of each sort, and what must not.
 *
 * `forbidden` names what another program would take for its own: a browser HTML, a server PHP, an unpacker an
 * archive, an office program macros. They are searched in the bytes as they stand, through the whole file;
 * what is packed or encrypted is not unpacked, and no claim is made about it.
 */

export interface ContentRule {
  /** The bytes that it begins with, where the detector's result is not needed. */
  readonly magicBytes?: Buffer;
  /** What the detector may say of its head. */
  readonly detectedTypes: readonly (string | undefined)[];
  /** Each must be in the file: else it is another container of the same make. */
  readonly required: readonly ByteSignature[];
  readonly forbidden: readonly ByteSignature[];
  /** Whether tags of HTML, PHP and scripts are refused, in letters of any size. */
  readonly forbidsTags: boolean;
  /** Text, all of it: UTF-8 without control characters, and not the beginning of a page or a program. */
  readonly isText: boolean;
}

/** Bytes that mean something; what it is called in a refusal. */
export interface ByteSignature {
  readonly name: string;
  readonly bytes: Buffer;
}

const signature = (name: string, bytes: string, encoding: BufferEncoding = "latin1"): ByteSignature => ({
  name,
  bytes: Buffer.from(bytes, encoding),
});

/** Eight bytes of the archive's end: four alone would turn up by chance in large files. */
const archives = [
  signature("a ZIP archive", "PK\x05\x06\0\0\0\0"),
  signature("a RAR archive", "Rar!\x1a\x07"),
  signature("a 7z archive", "7z\xbc\xaf\x27\x1c"),
];

const scripts = [signature("a script", "/JavaScript"), signature("an order to start a program", "/Launch")];

const macros = [signature("macros", "vbaProject.bin"), signature("a Java program", "META-INF/MANIFEST.MF")];

const openXml = ["wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation"].map(
  (name) => `application/vnd.openxmlformats-officedocument.${name}`,
);

const base: ContentRule = {
  detectedTypes: [],
  required: [],
  forbidden: [],
  forbidsTags: false,
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
    forbidden: [...archives, ...scripts],
    forbidsTags: true,
  } satisfies ContentRule,
  /** Office Open XML: a ZIP archive, whose names are not packed. The detector needs luck with their order. */
  package: (part: string): ContentRule => ({
    ...base,
    magicBytes: Buffer.from("PK\x03\x04"),
    detectedTypes: [undefined, "application/zip", ...openXml],
    required: [signature("a list of its parts", "[Content_Types].xml"), signature(part, part)],
    forbidden: macros,
  }),
  /** The older office formats: compound files, which installers are too. */
  compound: (stream: string): ContentRule => ({
    ...base,
    magicBytes: Buffer.from("d0cf11e0a1b11ae1", "hex"),
    detectedTypes: [undefined, "application/x-cfb"],
    required: [signature(stream, stream, "utf16le")],
    forbidden: [signature("macros", "_VBA_PROJECT", "utf16le")],
  }),
  text: { ...base, detectedTypes: [undefined], isText: true } satisfies ContentRule,
} as const;
