/**
 * The SQL of templates with the tag `sql` or `rowsOf(…)`. Every expression, comment and text is replaced by
 * the same number of characters.
 */
import { type ESTree, Visitor } from "vite";
import type { ParsedSource } from "./source.ts";

export interface SqlText {
  /** A value is `${`, characters U+0001 and `}`. */
  readonly text: string;
  /** The offset of the text in the source. */
  readonly start: number;
}

/** A value in a `SqlText`, as a part of a regular expression. */
export const value = String.raw`\$\{\x01*\}`;

export function findSql({ program, text }: ParsedSource): SqlText[] {
  const found: SqlText[] = [];
  new Visitor({
    TaggedTemplateExpression({ tag, quasi }) {
      if (isOfSql(tag)) {
        found.push({ start: quasi.start, text: withoutComments(withoutValues(quasi, text)) });
      }
    },
  }).visit(program);
  return found;
}

function withoutValues({ start, end, quasis }: ESTree.TemplateLiteral, text: string): string {
  // The span of a part includes its delimiters.
  const parts = quasis.map((part, index) => {
    const next = quasis[index + 1]?.start ?? part.end;
    return text.slice(part.start, part.end) + "\x01".repeat(next - part.end);
  });
  const whole = parts.join("");
  if (whole.length !== end - start) {
    throw new Error("The parts of a template do not cover it.");
  }
  return whole;
}

function withoutComments(text: string): string {
  return text.replace(/--.*|'[^'\n]*'/g, (match) => " ".repeat(match.length));
}

function isOfSql(tag: ESTree.Expression): boolean {
  const name = tag.type === "CallExpression" ? tag.callee : tag;
  return name.type === "Identifier" && ["sql", "rowsOf"].includes(name.name);
}
