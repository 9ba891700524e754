/** Small files of each supported type, and multipart forms that contain them. */
import { crc32, deflateRawSync } from "node:zlib";

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const png = Buffer.from(pixel, "base64");
export const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
export const jpeg = Buffer.concat([
  Buffer.from("ffd8ffe000104a46494600010100000100010000", "hex"),
  Buffer.alloc(64, 1),
  Buffer.from("ffd9", "hex"),
]);
export const pdf = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n");
export const mp4 = Buffer.concat([
  Buffer.from("00000018667479706d703432000000006d70343269736f6d", "hex"),
  Buffer.alloc(256),
]);
export const mov = Buffer.concat([Buffer.from("00000014667479707174202000000000", "hex"), Buffer.alloc(256)]);
export const webm = Buffer.concat([
  Buffer.from(
    "1a45dfa39f4286810142f7810142f2810442f381084282847765626d42878104428581021853806701ffffffffffffff",
    "hex",
  ),
  Buffer.alloc(256),
]);
export const wav = Buffer.concat([
  Buffer.from(
    "RIFF\x2c\x01\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data",
    "latin1",
  ),
  Buffer.alloc(260),
]);
export const mp3 = Buffer.concat([
  Buffer.from("49443303000000000000", "hex"),
  Buffer.from([0xff, 0xfb, 0x90, 0]),
  Buffer.alloc(800),
]);
export const ogg = Buffer.concat([
  Buffer.from("OggS\0\x02"),
  Buffer.alloc(22),
  Buffer.from("OpusHead"),
  Buffer.alloc(100),
]);
export const csv = Buffer.from("phone,name\n+14155550101,Ann\n");
export const executable = Buffer.concat([Buffer.from("MZ"), Buffer.alloc(200, 0x90)]);
export const compoundFile = (stream: string) =>
  Buffer.concat([
    Buffer.from("d0cf11e0a1b11ae1", "hex"),
    Buffer.alloc(600),
    Buffer.from(stream, "utf16le"),
    Buffer.alloc(100),
  ]);

/** A ZIP archive of compressed files, in the given order. */
export function zip(files: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const packed = deflateRawSync(text);
    const header = Buffer.alloc(26);
    header.writeUInt16LE(20, 0);
    header.writeUInt16LE(8, 4);
    header.writeUInt32LE(crc32(text), 10);
    header.writeUInt32LE(packed.length, 14);
    header.writeUInt32LE(Buffer.byteLength(text), 18);
    header.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), header, Buffer.from(name), packed]);
    const entry = Buffer.alloc(14);
    entry.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\0"), header, entry, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(14);
  end.writeUInt16LE(directory.length, 0);
  end.writeUInt16LE(directory.length, 2);
  end.writeUInt32LE(central.length, 4);
  end.writeUInt32LE(offset, 8);
  return Buffer.concat([...locals, central, Buffer.from("PK\x05\x06\0\0\0\0"), end]);
}

const types =
  '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>';
export const docx = zip({ "word/document.xml": "<w:document/>", "[Content_Types].xml": types });

export interface FilePart {
  readonly name?: string;
  readonly type?: string;
  readonly bytes: Uint8Array;
}

/** A form with one file: `fields` precede it, `after` follows it. */
export function multipartForm(
  { name = "photo.png", type = "", bytes }: FilePart,
  fields: Record<string, string> = {},
  after: Record<string, string> = {},
): FormData {
  const data = new FormData();
  for (const [field, value] of Object.entries(fields)) {
    data.append(field, value);
  }
  data.append("file", new Blob([Buffer.from(bytes)], { type }), name);
  for (const [field, value] of Object.entries(after)) {
    data.append(field, value);
  }
  return data;
}
