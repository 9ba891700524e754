/** The smallest files of each kind, for messages of customers that come without bytes. */

export interface SampleFile {
  readonly mime_type: string;
  readonly bytes: Buffer;
}

/** One pixel. */
const jpeg =
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=";
/** One pixel. */
const webp = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==";

/** Its container without a picture. */
const mp4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from("ftypisom"),
  Buffer.from([0, 0, 2, 0]),
  Buffer.from("isommp42"),
  Buffer.from([0, 0, 0, 8]),
  Buffer.from("mdat"),
]);

/** The first page of a stream, with the head of its sound: version 1, one channel, 48,000 Hz. */
const ogg = Buffer.concat([
  Buffer.from("OggS"),
  Buffer.from([0, 2, ...Array<number>(8).fill(0), 1, ...Array<number>(11).fill(0), 1, 19]),
  Buffer.from("OpusHead"),
  Buffer.from([1, 1, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0]),
]);

const pdf =
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 0/Kids[]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";

export const sampleFiles: Readonly<Record<"image" | "video" | "audio" | "document" | "sticker", SampleFile>> =
  {
    image: { mime_type: "image/jpeg", bytes: Buffer.from(jpeg, "base64") },
    video: { mime_type: "video/mp4", bytes: mp4 },
    audio: { mime_type: "audio/ogg; codecs=opus", bytes: ogg },
    document: { mime_type: "application/pdf", bytes: Buffer.from(pdf) },
    sticker: { mime_type: "image/webp", bytes: Buffer.from(webp, "base64") },
  };
