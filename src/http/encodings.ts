/**
 * Compresses public contents once: compressing them for each request, which needs no credential, would
 * cost the processor much more than sending them.
 */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { minCompressedBytes } from "./browsers.ts";

export interface EncodedContent {
  readonly content: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the content in the first encoding of `compress` that the client accepts, or as it is. */
export type EncodeContent = (accepted: string | string[] | undefined) => Promise<EncodedContent>;

/** Well below the default of 11, which takes seconds for a megabyte. */
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** The first that the client accepts is sent. */
const compress: Readonly<Record<string, (content: Buffer) => Promise<Buffer>>> = {
  br: (content) => promisify(brotliCompress)(content, quality),
  gzip: (content) => promisify(gzip)(content),
};

export function createEncodeContent(content: Buffer): EncodeContent {
  const forms = new Map<string, Promise<Buffer>>();
  return async (accepted) => {
    const headers = { vary: "accept-encoding" };
    const [found] = Object.entries(compress).filter(([encoding]) => acceptsEncoding(accepted, encoding));
    if (!found || content.length < minCompressedBytes) {
      return { content, headers };
    }
    const [encoding, make] = found;
    const form = forms.get(encoding) ?? make(content);
    forms.set(encoding, form);
    return { content: await form, headers: { ...headers, "content-encoding": encoding } };
  };
}

/** Whether a client with this Accept-Encoding accepts the encoding. */
export function acceptsEncoding(header: string | string[] | undefined, encoding: string): boolean {
  const parts = String(header ?? "").split(",");
  return parts.some((part) => {
    const [name = "", weight = ""] = part.split(";").map((text) => text.trim().toLowerCase());
    return name === encoding && !/^q=0(?:\.0*)?$/.test(weight);
  });
}
