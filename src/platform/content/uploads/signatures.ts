/** Searches a stream for byte signatures and tags, also across two chunks. */
import type { ByteSignature, ContentRule } from "./content-rules.ts";
import { findPdfAction, pdfActionLength } from "./pdf-actions.ts";

/**
 * How many bytes of a chunk are searched again with the next chunk: at least the length of the longest
 * pattern minus one.
 */
const overlap = pdfActionLength;

/**
 * A tag of HTML, PHP or a script, with the next character: shorter sequences occur by chance. After `<?=` the
 * beginning of a PHP expression must follow, or a whole short expression. Ten printable characters are the
 * least that does harm, and they occur by chance in one of thousands of files of 32 MB.
 */
const tag =
  /^<(?:script[\s>/]|html[\s>]|!doctype\s+html|iframe[\s>]|\?php\s|\?=(?:[\t\n\r -~]{10}|[\t\n\r -~]{1,9}?\?>))/i;
const tagLength = 24;

export interface SignatureScan {
  /** The name of a forbidden signature that this chunk completes. */
  scan(chunk: Uint8Array): string | undefined;
  /** The names of the required signatures that were not found. */
  missing(): string[];
}

export function scanSignatures({
  required,
  forbidden,
  forbidsTags,
  forbidsActions,
}: ContentRule): SignatureScan {
  const missing = new Set(required);
  let previous = Buffer.alloc(0);
  return {
    scan(chunk) {
      const view = Buffer.concat([previous, chunk]);
      previous = Buffer.from(view.subarray(-overlap));
      for (const signature of missing) {
        if (containsSignature(view, signature)) {
          missing.delete(signature);
        }
      }
      return (
        forbidden.find((signature) => containsSignature(view, signature))?.name ??
        (forbidsTags ? findTag(view) : undefined) ??
        (forbidsActions ? findPdfAction(view) : undefined)
      );
    },
    missing: () => [...missing].map(({ name }) => name),
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

/**
 * The characters that follow `<` in the tags. They are checked first, because decoding text for every `<` is
 * slow.
 */
const tagFirstBytes = new Set(Buffer.from("sShHiI!?"));
