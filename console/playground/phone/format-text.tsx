/** A text as WhatsApp shows it: *bold*, _italic_, ~struck~, `code` and ```blocks```. */
import type { ComponentChildren } from "preact";

/** The groups are a block, code, a sign, and the text between two signs. A sign within a word is text. */
const formatted = /```([\s\S]+?)```|`([^`\n]+)`|(?<![\p{L}\p{N}])([*_~])(?=\S)([^\n]*?\S)\3(?![\p{L}\p{N}])/u;

export function FormattedText({ text }: { text: string }) {
  return <p class="text">{formatText(text)}</p>;
}

function formatText(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let rest = text;
  for (let match = formatted.exec(rest); match !== null; match = formatted.exec(rest)) {
    const [whole, block, code, sign, inner = ""] = match;
    parts.push(rest.slice(0, match.index), wrap({ plain: block ?? code, sign, inner }));
    rest = rest.slice(match.index + whole.length);
  }
  return [...parts, rest];
}

interface Match {
  /** The text of code; undefined for the other forms. */
  readonly plain: string | undefined;
  readonly sign: string | undefined;
  readonly inner: string;
}

function wrap({ plain, sign, inner }: Match): ComponentChildren {
  if (plain !== undefined) {
    return <code>{plain}</code>;
  }
  const content = formatText(inner);
  if (sign === "*") {
    return <strong>{content}</strong>;
  }
  return sign === "_" ? <em>{content}</em> : <s>{content}</s>;
}
