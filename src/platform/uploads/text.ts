/** Whether a file is text, read as it streams by. */
import { fail } from "../../../tools/errors.ts";

/** How a page, a drawing or a program begins, which no list of contacts does. */
const other = /^\s*(?:<!doctype|<html|<head|<body|<script|<svg|<iframe|<\?xml|<\?php|<!--|#!)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is searched for.
const control = /[\0-\x08\x0b\x0e-\x1f\x7f]/;

/** Long enough for what stands before the first tag. */
const headLength = 1024;

export interface TextCheck {
  /** @throws Failure `file_type_mismatch`, `file_unsafe`. */
  see(chunk: Uint8Array): void;
  end(): void;
}

export function checkText(): TextCheck {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let head = "";
  const read = (chunk: Uint8Array | undefined) => {
    const text = decode(decoder, chunk);
    head += text.slice(0, Math.max(0, headLength - head.length));
    if (control.test(text)) {
      throw notText("it holds control characters, which text does not; save it as UTF-8 text.");
    }
    if (other.test(head)) {
      throw fail("file_unsafe", { value: "the beginning of a web page or a program", param: "file" });
    }
  };
  return { see: read, end: () => read(undefined) };
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
