/** Checks that a stream is UTF-8 text. */
import { fail } from "../../../../tools/errors.ts";

/** The start of an HTML page, an SVG image or a program, which no plain text or CSV file has. */
const nonTextStart = /^\s*(?:<!doctype|<html|<head|<body|<script|<svg|<iframe|<\?xml|<\?php|<\?=|<!--|#!)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them.
const control = /[\0-\x08\x0b\x0e-\x1f\x7f]/;

/** Enough characters for the white space before the first tag. */
const headLength = 1024;

export interface TextCheck {
  /** @throws Failure `file_type_mismatch`, `file_unsafe`. */
  scan(chunk: Uint8Array): void;
  end(): void;
}

export function createTextCheck(): TextCheck {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let head = "";
  const read = (chunk: Uint8Array | undefined) => {
    const text = decode(decoder, chunk);
    head += text.slice(0, Math.max(0, headLength - head.length));
    if (control.test(text)) {
      throw notText("it contains control characters; save it as UTF-8 text.");
    }
    if (nonTextStart.test(head)) {
      throw fail("file_unsafe", { value: "the start of a web page or a program", param: "file" });
    }
  };
  return { scan: read, end: () => read(undefined) };
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array | undefined): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
  } catch (cause) {
    throw notText("it is not UTF-8 text; save it as UTF-8.", cause);
  }
}

function notText(reason: string, cause?: unknown) {
  return fail("file_type_mismatch", { reason, param: "file" }, cause);
}
