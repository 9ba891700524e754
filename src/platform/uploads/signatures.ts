/** Searches a file for marks as it streams by, also where two chunks meet. */
import type { ByteSignature, ContentRule } from "./content-rules.ts";

/** The longest mark or tag, less one byte: what is kept of a chunk for the next. */
const overlap = 63;

/** A tag of HTML or PHP; short ones need what follows them, or chance would write them. */
const tag = /^<(?:script[\s>/]|html[\s>]|!doctype\s+html|iframe[\s>]|\?php\s)/i;
const tagLength = 24;

export interface SignatureScan {
  /** The name of something forbidden, as soon as it is there. */
  scan(chunk: Uint8Array): string | undefined;
  /** The names of what ought to be there and is not. */
  missing(): string[];
}

export function scanSignatures({ required, forbidden, forbidsTags }: ContentRule): SignatureScan {
  const wanted = new Set(required);
  let before = Buffer.alloc(0);
  return {
    scan(chunk) {
      const view = Buffer.concat([before, chunk]);
      before = Buffer.from(view.subarray(-overlap));
      for (const mark of wanted) {
        if (containsSignature(view, mark)) {
          wanted.delete(mark);
        }
      }
      return (
        forbidden.find((mark) => containsSignature(view, mark))?.name ??
        (forbidsTags ? findTag(view) : undefined)
      );
    },
    missing: () => [...wanted].map(({ name }) => name),
  };
}

function containsSignature(view: Buffer, { bytes }: ByteSignature): boolean {
  return view.includes(bytes);
}

function findTag(view: Buffer): string | undefined {
  for (let at = view.indexOf(0x3c); at >= 0; at = view.indexOf(0x3c, at + 1)) {
    if (tagFirstBytes.has(view[at + 1] ?? 0) && tag.test(view.toString("latin1", at, at + tagLength))) {
      return "tags of a web page or a script";
    }
  }
  return undefined;
}

/** The letters that follow `<` in the tags: one byte is looked at before a text is made. */
const tagFirstBytes = new Set(Buffer.from("sShHiI!?"));
